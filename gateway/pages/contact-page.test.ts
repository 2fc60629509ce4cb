import t from 'tap'
import { listAccessibilityErrors, needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { testGateway } from '../test/gateway.ts'

const page = '/trusted-contact'

t.test('a contact agrees or declines with a button, on a phone, a desktop and by keyboard', needsBrowser, async (t) => {
  const { url, services: { notification } } = await testGateway(t)
  const browser = await openBrowser(t)
  const respond = (status: number, body: object) =>
    notification.respondWith((_received, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    )

  async function open (hash: string, { width = 390, locale = 'en-GB' } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 844 }, locale })
    const opened = await context.newPage()
    opened.on('pageerror', ({ message }) => t.fail(message))
    await opened.goto(`${url}${page}${hash}`)
    return opened
  }
  const statusOf = async (opened: Awaited<ReturnType<typeof open>>) => await opened.getByRole('status').innerText()

  for (const [width, locale, agree] of [[390, 'en-GB', 'I agree'], [1280, 'id-ID', 'Saya setuju']] as const) {
    const opened = await open('#token=t-1', { width, locale })
    t.strictSame(await listAccessibilityErrors(opened), [], `${width} ${locale}`)
    t.equal(notification.received.length, 0, 'opening the page sends nothing')
    t.equal(new URL(opened.url()).hash, '', 'the history keeps no token')
    const overflow = await opened.evaluate('document.documentElement.scrollWidth > innerWidth')
    t.equal(overflow, false, 'nothing is wider than the screen')

    respond(200, { success: true, message: 'ok' })
    await opened.getByRole('button', { name: agree }).click()
    await opened.getByText(locale === 'en-GB' ? /^Thank you/ : /^Terima kasih/).waitFor()
    t.equal(await opened.locator('form').isVisible(), false)
    t.strictSame(await listAccessibilityErrors(opened), [])
    const [received] = notification.received.splice(0)
    t.match(received, { method: 'POST', url: '/notifications/trusted-contact/answer' })
    t.strictSame(JSON.parse(String(received!.body)), { token: 't-1', accept: true })
    await opened.context().close()
  }

  const opened = await open('#token=t-2')
  await opened.keyboard.press('Tab')
  await opened.keyboard.press('Tab')
  await opened.keyboard.press('Enter')
  await opened.getByText(/^You get no more/).waitFor()
  t.strictSame(JSON.parse(String(notification.received.splice(0)[0]!.body)), { token: 't-2', accept: false })
  await opened.context().close()

  const answers = {
    INVALID_TOKEN: [400, 'This link is no longer valid'],
    CONTACT_DECLINED: [409, 'You have declined before'],
    SERVICE_UNAVAILABLE: [503, 'Something went wrong']
  } as const
  for (const [code, [status, text]] of Object.entries(answers)) {
    const again = await open('#token=t-3')
    respond(status, { success: false, code, error: 'a reason' })
    await again.getByRole('button', { name: 'I agree' }).click()
    await again.getByText(text).waitFor()
    t.equal(
      await again.locator('form').isVisible(),
      code === 'SERVICE_UNAVAILABLE',
      'a passing failure can be repeated'
    )
    await again.context().close()
  }
  const without = await open('')
  t.equal(await statusOf(without), 'Please open the link in the email again.')
})
