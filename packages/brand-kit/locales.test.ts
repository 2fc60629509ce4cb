import t from 'tap'
import { createTexts, loadBrand, readLocale } from './index.ts'

const texts = createTexts(loadBrand())

t.test('people read the language of their locale, and English if it is not supported', (t) => {
  const locales = [
    ['id', 'id'],
    ['id-ID', 'id'],
    ['id_ID', 'id'],
    ['ID', 'id'],
    ['in', 'id'],
    ['in_ID', 'id'],
    ['en-GB', 'en'],
    ['fr', 'en'],
    ['ido', 'en'],
    ['', 'en'],
    [null, 'en']
  ] as const
  for (const [locale, language] of locales) t.equal(texts.of(locale).locale, language, `${locale}`)
  t.end()
})

t.test('only the beginning of Accept-Language is read: thousands of languages take long', (t) => {
  t.equal(texts.negotiate(`${'fr, '.repeat(20)}id`), 'id')
  t.equal(texts.negotiate(`${'fr, '.repeat(4_000)}id`), undefined)
  t.end()
})

t.test('of a locale as phones send it, the language, script and region are kept', (t) => {
  const locales = [
    ['id', 'id'],
    ['en_GB', 'en-GB'],
    ['zh_Hant_TW', 'zh-Hant-TW'],
    ['zh_TW_#Hant', 'zh-TW'],
    ['en-US-u-hc-h23', 'en-US'],
    ['en-ID-u-fw-mon-mu-celsius', 'en-ID'],
    ['en_US@calendar=japanese', 'en-US'],
    ['en_US.UTF-8', 'en-US'],
    ['en-us-posix', 'en-US'],
    ['es-419', 'es-419'],
    ['in_ID', 'id-ID'],
    ['', undefined],
    ['x y', undefined],
    ['und', undefined],
    ['@', undefined],
    ['😀', undefined],
    ['english (United States)', 'english']
  ] as const
  for (const [sent, read] of locales) t.equal(readLocale(sent), read, sent)
  t.end()
})
