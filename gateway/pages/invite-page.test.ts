import t from 'tap'
import { listAccessibilityErrors, needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { testGateway } from '../test/gateway.ts'

t.test('an invitation shows its code and the stores, whatever its link says', needsBrowser, async (t) => {
  const { url } = await testGateway(t, {
    env: {
      IOS_STORE_URL: 'https://apps.apple.com/app/id1',
      ANDROID_STORE_URL: 'https://play.google.com/store/apps/details?id=com.example.fit&hl=en'
    }
  })
  const browser = await openBrowser(t)
  const page = await (await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en-GB' })).newPage()
  page.on('pageerror', ({ message }) => t.fail(message))
  page.on('dialog', () => t.fail('the link ran a script'))
  await page.goto(`${url}/invite/K7RMX2PA`)
  t.equal(await page.locator('output').innerText(), 'K7RMX2PA')
  t.equal(
    await page.getByRole('link', { name: 'Google Play' }).getAttribute('href'),
    'https://play.google.com/store/apps/details?id=com.example.fit&hl=en'
  )
  t.same(await listAccessibilityErrors(page), [])
  await page.goto(`${url}/invite/${encodeURIComponent('<img src=x onerror=alert(1)>')}`)
  t.equal(await page.locator('output').innerText(), '<img src=x onerror=alert(1)>')
})

t.test('without stores it says to ask the friend, in the language of the browser', async (t) => {
  const { call } = await testGateway(t)
  const page = async (language: string) =>
    (await call('/invite/K7RMX2PA', { headers: { 'accept-language': language } })).body.toString()
  t.match(await page('en'), /Ask them where to get the app/)
  t.match(await page('id'), /Tanyakan kepadanya/)
})
