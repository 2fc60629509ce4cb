import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { turnOff, useBrand } from '@tandem/brand-kit/testing'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { pages, testPages } from '../test/console-pages.ts'

const folder = t.testdir()
writeFileSync(path.join(folder, 'brand.json'), JSON.stringify({ locales: ['en', 'id', 'es'] }))
useBrand(t, folder)

const WIDTH_PX = 390

for (const locale of ['en', 'id', 'es']) {
  t.test(`every page in ${locale} fits a phone, light and dark`, needsBrowser, async (t) => {
    const { call } = await testPages(t)
    const { text: style } = await call('/assets/style.css')
    const browser = await openBrowser(t)
    const page = await browser.newPage({ viewport: { width: WIDTH_PX, height: 844 } })
    for (const address of [...pages, '/sign-in', '/enroll']) {
      const { text } = await call(address, { headers: { 'accept-language': locale } })
      t.match(text, `<html lang="${locale}">`, address)
      await page.setContent(text.replace('<link rel="stylesheet" href="/assets/style.css">', `<style>${style}</style>`))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), WIDTH_PX, `${address}, ${colorScheme}`)
      }
    }
  })
}

t.test('without FitMatch there is no page of its verifications, and no link to it', async (t) => {
  turnOff(t, 'fitmatch')
  const { call } = await testPages(t)
  t.equal((await call('/verifications')).status, 404)
  const { text } = await call('/queue')
  t.ok(text.includes('href="/appeals"'))
  t.notOk(text.includes('href="/verifications"'))
})
