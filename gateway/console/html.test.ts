import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { html, renderHtml, type Html } from './html.ts'

t.test('everything is escaped but what the template made itself', (t) => {
  const stored = '<script>alert("1")</script> & \'`'
  t.equal(
    renderHtml(html`<p title="${stored}">${stored}</p>`),
    '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;&#96;">' +
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;&#96;</p>'
  )
  t.equal(renderHtml(html`${[html`<b>${1}</b>`, '<']}${false}${null}${undefined}${0}`), '<b>1</b>&lt;0')
  const forged = JSON.parse('[{"markup":"<b>"},"<i>"]') as Html[]
  t.equal(renderHtml(html`${forged[1]}`), '&lt;i&gt;')
  t.throws(() => renderHtml(html`${forged[0]}`), 'an object of a service is not HTML')
  t.end()
})

t.test('attributes are in quotes, and nothing is written into a script or a style', (t) => {
  const folders = ['.', 'pages'].map((folder) => path.join(import.meta.dirname, folder))
  const files = folders.flatMap((folder) =>
    readdirSync(folder).filter((name) => /(?<!\.test)\.ts$/.test(name)).map((name) => path.join(folder, name))
  )
  t.ok(files.length > 20)
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    t.notMatch(text, /<[a-z][^<`]*\s[a-z-]+=\$\{/, `${file}: an attribute without quotes`)
    t.notMatch(text, /\son[a-z]+="|style="|<style|<script(?! type="module" src=)/, `${file}: script or style in a page`)
    t.notMatch(
      text,
      /(href|src|action)="\$\{(?!\s*(path|address|reason\}))/,
      `${file}: an unknown address`
    )
  }
  t.end()
})
