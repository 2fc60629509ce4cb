import t from 'tap'
import { listAccessibilityErrors, needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { testGateway } from '../test/gateway.ts'

t.test(
  'a person downloads their data, takes an address back and uses the link of a code, on a phone and a desktop',
  needsBrowser,
  async (t) => {
    const { url, services: { identity } } = await testGateway(t, { env: { LIMIT_ACCOUNT_EXPORT_FILE: 'off' } })
    const browser = await openBrowser(t)
    const zip = Buffer.alloc(3_500_000, 1)
    let status = 200
    identity.respondWith(({ method, url: path }, response) => {
      if (status !== 200 || path.startsWith('/account/email') || path.startsWith('/auth/')) {
        response.writeHead(status, { 'content-type': 'application/json' })
        return response.end(
          JSON.stringify({ success: status === 200, code: status === 200 ? undefined : 'INVALID_TOKEN' })
        )
      }
      response.writeHead(200, {
        'content-type': 'application/zip',
        'content-length': zip.length,
        'content-disposition': 'attachment; filename="tandem-data.zip"'
      })
      response.end(method === 'HEAD' ? undefined : zip)
    })

    async function open (path: string, { width = 390, locale = 'en-GB' } = {}) {
      const context = await browser.newContext({ viewport: { width, height: 844 }, locale })
      const opened = await context.newPage()
      opened.on('pageerror', ({ message }) => t.fail(message))
      opened.on('console', (message) => message.text().includes('Content Security') && t.fail(message.text()))
      await opened.goto(`${url}${path}`)
      return opened
    }

    const cases = [[390, 'en-GB', /Size: 3.5 MB/, 'Restore my address', /is restored/], [
      1280,
      'id-ID',
      /Ukuran: 3,5 MB/,
      'Pulihkan alamat saya',
      /sudah dipulihkan/
    ]] as const
    for (const [width, locale, size, restore, restored] of cases) {
      status = 200
      const opened = await open('/my-data#t-1', { width, locale })
      await opened.getByText(size).waitFor()
      t.strictSame(await listAccessibilityErrors(opened), [], `/my-data ${width} ${locale}`)
      t.equal(new URL(opened.url()).hash, '', 'the history keeps no token')
      const downloading = opened.waitForEvent('download')
      await opened.keyboard.press('Tab')
      await opened.keyboard.press('Enter')
      t.equal((await downloading).suggestedFilename(), 'tandem-data.zip')
      t.equal(identity.received.at(-1)?.url, '/account/export/file?token=t-1')

      const address = await open('/restore-address#token=t-2', { width, locale })
      identity.received.length = 0
      t.strictSame(await listAccessibilityErrors(address), [], `/restore-address ${width} ${locale}`)
      t.equal(identity.received.length, 0, 'opening the page sends nothing')
      await address.keyboard.press('Tab')
      t.equal(await address.locator('button:focus').innerText(), restore)
      await address.keyboard.press('Enter')
      await address.getByText(restored).waitFor()
      t.same(JSON.parse(String(identity.received[0]?.body)), { token: 't-2' })

      for (const [path, route] of [['/sign-in', '/auth/login-link/network'], ['/verify-email', '/auth/verify-link']]) {
        const linked = await open(`${path}#token=t-3`, { width, locale })
        identity.received.length = 0
        t.strictSame(await listAccessibilityErrors(linked), [], `${path} ${width} ${locale}`)
        t.equal(new URL(linked.url()).hash, '', 'the history keeps no token')
        t.equal(identity.received.length, 0, 'opening the page sends nothing')
        await linked.getByRole('button').click()
        await linked.locator('form').waitFor({ state: 'hidden' })
        t.same(
          identity.received.map(({ url: sent, body }) => [sent, JSON.parse(String(body))]),
          [[route, { token: 't-3' }]]
        )
      }
    }

    const messages = { 410: /has ended/, 400: /not valid/, 503: /went wrong/ }
    for (const [code, text] of Object.entries(messages)) {
      status = Number(code)
      const opened = await open('/my-data#t-1')
      await opened.getByText(text).waitFor()
      t.equal(await opened.locator('a').isVisible(), false)
    }
    const page = await open('/delete-account')
    await page.getByRole('link', { name: 'copy of your data' }).click()
    await page.getByText(/Ask for a copy in the settings/).waitFor()
    status = 400
    const expired = await open('/restore-address#token=t-2')
    await expired.getByRole('button').click()
    await expired.getByText(/has expired/).waitFor()
  }
)
