import t, { type Test } from 'tap'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { testGateway } from '../test/gateway.ts'

const FAILED = 'The documentation could not be loaded. Reload the page, or read /openapi.json.'

async function openDocs (t: Test, { breaks = false } = {}) {
  const { url } = await testGateway(t)
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  if (breaks) await page.route('**/scalar.js', async (route) => await route.fulfill({ status: 503, body: '{}' }))
  await page.goto(`${url}/docs/`)
  return page
}

t.test('the documentation replaces what stands there while it is loading', needsBrowser, async (t) => {
  const page = await openDocs(t)
  await page.getByText('The documentation is loading …').waitFor({ state: 'hidden' })
  await page.getByRole('heading', { name: 'Tandem' }).first().waitFor()
  t.notOk(await page.getByText(FAILED).isVisible())
})

t.test('a page whose script is not served says so, and what to read instead', needsBrowser, async (t) => {
  const page = await openDocs(t, { breaks: true })
  await page.getByText(FAILED).waitFor()
  t.notOk(await page.getByText('The documentation is loading …').isVisible())
  t.equal(await page.getByRole('link', { name: '/openapi.json' }).getAttribute('href'), '/openapi.json')
})

t.test('without scripts the page says where the API is described', async (t) => {
  const { call } = await testGateway(t)
  const page = (await call('/docs/')).body.toString()
  t.match(page, /<noscript><p>This page needs JavaScript\. .*<a href="\/openapi\.json">.*<\/noscript>/)
  t.match(page, /<p id="loading" role="status" hidden>/)
})
