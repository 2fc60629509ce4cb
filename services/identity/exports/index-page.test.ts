import t from 'tap'
import { readBrand } from '@tandem/brand-kit'
import { renderIndex } from './index-page.ts'

t.test('texts of a brand are text on the page of an archive', (t) => {
  readBrand().brand.texts['en']!['pages.exportIndex.intro'] = 'Bread & <b>Butter</b>'
  const html = renderIndex({ counts: {}, images: [], locale: 'en' })
  t.ok(html.includes('<p>Bread &amp; &lt;b&gt;Butter&lt;/b&gt;</p>'))
  t.end()
})
