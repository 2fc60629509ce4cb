import t from 'tap'
import { Type } from 'typebox'
import { data } from './envelope.ts'
import { languageOfLocale, languageOfRequest, readLocale } from './language.ts'
import { Data } from './schemas.ts'
import type { Routes } from './server.ts'
import { testServer } from './testing.ts'

const routes: Routes = async (app) => {
  app.get('/language', {
    config: { public: true },
    schema: { response: { 200: Data(Type.Object({ language: Type.String() })) } }
  }, async (request) => data({ language: languageOfRequest(request, 'id') }))
}

t.test('a client gets its preferred supported language, or the default of the route', async (t) => {
  const app = await testServer(t, routes)
  const cases = [
    ['en', 'en'],
    ['fr, en;q=0.5, id;q=0.4', 'en'],
    ['in-ID', 'id'],
    ['en;q=0.1, in', 'id'],
    ['fr', 'id'],
    ['*', 'id'],
    ['fr, *;q=0.5', 'id'],
    ['*;q=0.5, en;q=0.1', 'en'],
    ['', 'id']
  ] as const
  for (const [acceptLanguage, language] of cases) {
    const response = await app.inject({ url: '/language', headers: { 'accept-language': acceptLanguage } })
    t.equal(response.json().data.language, language, acceptLanguage)
  }
  t.equal((await app.inject('/language')).json().data.language, 'id')
})

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
  for (const [locale, language] of locales) t.equal(languageOfLocale(locale), language, `${locale}`)
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
