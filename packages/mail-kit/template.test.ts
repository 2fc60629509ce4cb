import t from 'tap'
import { renderMail } from './index.ts'

const content = {
  locale: 'id',
  subject: 'Kode <kamu>',
  title: 'Halo, <b>Ana</b>',
  paragraphs: ['Tom & "Ana"', 'Berlaku 24 jam.'],
  code: '482913',
  button: { label: 'Buka', url: 'https://tandem.example/reset?token=a&b=<c>' },
  footer: 'Bukan kamu? Abaikan saja.'
}

t.test('user input is escaped', async (t) => {
  const { html } = renderMail(content)
  t.notMatch(html, /<b>|<c>|<kamu>/)
  t.match(html, 'Halo, &lt;b&gt;Ana&lt;/b&gt;')
  t.match(html, 'Tom &amp; &quot;Ana&quot;')
  t.match(html, '<html lang="id">')
})

t.test('the code is a separate word in both parts, and the text contains the whole link', async (t) => {
  const { text, html } = renderMail(content)
  t.strictSame(text.split(/\s+/).filter((word) => /^\d{6}$/.test(word)), ['482913'])
  t.match(html, />482913</)
  t.match(text, content.button.url)
})

t.test('a mail without code and button has neither', async (t) => {
  const { text, html } = renderMail({ ...content, code: undefined, button: undefined } as never)
  t.equal(text, 'Halo, <b>Ana</b>\n\nTom & "Ana"\n\nBerlaku 24 jam.\n\n--\nBukan kamu? Abaikan saja.\n')
  t.notMatch(html, /class="code"|<a /)
})

t.test('a button accepts only http and https URLs', async (t) => {
  t.throws(() => renderMail({ ...content, button: { label: 'x', url: 'javascript:alert(1)' } }), /http or https URL/)
})

t.test('the HTML loads no remote content', async (t) => {
  t.notMatch(renderMail(content).html, /<img|<link|<script|url\(|src=/)
})
