import { writeFileSync } from 'node:fs'
import path from 'node:path'
import Fastify from 'fastify'
import t from 'tap'
import { needsBrowser, openBrowser, watchProblems } from '@tandem/test-kit/browser'
import { readBrand } from '@tandem/brand-kit'
import { useBrand } from '@tandem/brand-kit/testing'
import { inScheme, serveBrandPreview } from './serve.ts'
import { listMails, listPages, listPushes } from './shown.ts'

const folder = t.testdir()
writeFileSync(path.join(folder, 'brand.json'), JSON.stringify({ locales: ['en', 'id', 'es'] }))
useBrand(t, folder)

const WIDTH_PX = 390
const readWidth = () => document.documentElement.scrollWidth
const readText = () => document.body.innerText
/** Browsers are not among the types of Node. */
declare const document: { documentElement: { scrollWidth: number }, body: { innerText: string } }

for (const locale of ['en', 'id', 'es']) {
  t.test(`every mail and page in ${locale} fits a phone, light and dark`, needsBrowser, async (t) => {
    const local = readBrand().texts.of(locale)
    const documents = [...listMails(local), ...await listPages(local)]
    t.ok(documents.length > 60)
    const browser = await openBrowser(t)
    const page = await browser.newPage({ viewport: { width: WIDTH_PX, height: 800 } })
    for (const scheme of ['light', 'dark'] as const) {
      for (const { name, html } of documents) {
        await page.setContent(inScheme(html, scheme))
        t.equal(await page.evaluate(readWidth), WIDTH_PX, `${name}, ${scheme}`)
        const text = await page.evaluate(readText)
        t.notMatch(
          text,
          /\{(?!date\})\w+[,}]/,
          `${name} has a value for each parameter but the date, which its script sets`
        )
      }
    }
  })
}

t.test('the preview shows each mail, page and push, and fits a phone and a desk', needsBrowser, async (t) => {
  const app = Fastify({ forceCloseConnections: true })
  serveBrandPreview(app)
  t.teardown(async () => await app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await openBrowser(t)
  const local = readBrand().texts.of('es')
  for (const width of [WIDTH_PX, 1280]) {
    const context = await browser.newContext({ viewport: { width, height: 800 } })
    const problems = await watchProblems(context)
    const page = await context.newPage()
    await page.goto(`${url}/brand`)
    await page.getByRole('link', { name: 'es', exact: true }).click()
    t.equal(await page.evaluate(readWidth), width)
    await page.frameLocator('iframe').first().getByText('Te damos la bienvenida a Tandem').waitFor()
    t.equal(await page.locator('iframe').count(), 2 * (listMails(local).length + (await listPages(local)).length))
    t.equal(await page.locator('.push').count(), 2 * listPushes(local).length)
    t.strictSame(problems, [])
  }
})

t.test('there is no page of another locale, and none beyond the last', async (t) => {
  const app = Fastify()
  serveBrandPreview(app)
  for (const url of ['/brand/fr', '/brand/en/mails/999/dark']) t.equal((await app.inject({ url })).statusCode, 404, url)
})
