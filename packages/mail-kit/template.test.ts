import t from 'tap'
import { createTexts, loadBrand } from '@tandem/brand-kit'
import { renderMail } from './index.ts'

const brand = loadBrand()
brand.texts['id'] = {
  ...brand.texts['id'],
  'mails.verification.subject': 'Kode <kamu>',
  'mails.verification.title': 'Halo, {name}',
  'mails.verification.text': 'Tom & "Ana"\n\nBerlaku 24 jam.',
  'mails.verification.footer': 'Bukan kamu? Abaikan saja.'
}
const own = { brand, texts: createTexts(brand) }
const mail = { kind: 'verification', locale: 'id', params: { name: '<b>Ana</b>' } } as const
const link = { code: '482913', url: 'https://tandem.example/reset?token=a&b=<c>' }

t.test('user input is escaped', async (t) => {
  const { html } = renderMail({ ...mail, ...link }, own)
  t.notMatch(html, /<b>|<c>|<kamu>/)
  t.match(html, 'Halo, &lt;b&gt;Ana&lt;/b&gt;')
  t.match(html, 'Tom &amp; &quot;Ana&quot;')
  t.match(html, '<html lang="id">')
})

t.test('the code is a separate word in both parts, and the text contains the whole link', async (t) => {
  const { text, html } = renderMail({ ...mail, ...link }, own)
  t.strictSame(text.split(/\s+/).filter((word) => /^\d{6}$/.test(word)), ['482913'])
  t.match(html, />482913</)
  t.match(text, link.url)
})

t.test('a mail without code and button has neither', async (t) => {
  const { text, html } = renderMail(mail, own)
  t.equal(text, 'Halo, <b>Ana</b>\n\nTom & "Ana"\n\nBerlaku 24 jam.\n\n--\nBukan kamu? Abaikan saja.\n')
  t.notMatch(html, /class="code"|<a /)
})

t.test('a button accepts only http and https URLs', async (t) => {
  t.throws(() => renderMail({ ...mail, url: 'javascript:alert(1)' }, own), /http or https URL/)
})

t.test('the HTML loads no remote content, and fills every slot', async (t) => {
  const { html } = renderMail({ ...mail, ...link }, own)
  t.notMatch(html, /<img|<link|<script|url\(|src=/)
  t.notMatch(html, '{{')
})

t.test('the name, the colours and the logo are those of the brand', async (t) => {
  const fitly = {
    ...brand,
    name: 'Fitly',
    colours: { ...brand.colours, light: { accent: '#aa0055', onAccent: '#ffffff', background: '#fff0f5' } },
    logo: { svg: Buffer.from(''), png: Buffer.from('') }
  }
  const { html, text } = renderMail({ kind: 'signIn', locale: 'en', ...link }, {
    brand: fitly,
    texts: createTexts(fitly)
  })
  t.match(html, 'background:#aa0055')
  t.match(html, '<img src="cid:logo"')
  t.notMatch(html + text, 'Tandem')
  t.match(text, 'Nobody from Fitly')
})
