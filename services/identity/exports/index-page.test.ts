import t from 'tap'
import { useBrand } from '@tandem/brand-kit/testing'
import { renderIndex } from './index-page.ts'

t.test('texts of a brand are text on the page of an archive', (t) => {
  const texts = { 'pages.exportIndex.intro': 'Bread & <b>Butter</b>' }
  useBrand(t, t.testdir({ 'brand.json': '{}', 'texts': { 'en.json': JSON.stringify(texts) } }))
  const html = renderIndex({ counts: {}, images: [], locale: 'en' })
  t.ok(html.includes('<p>Bread &amp; &lt;b&gt;Butter&lt;/b&gt;</p>'))
  t.end()
})
