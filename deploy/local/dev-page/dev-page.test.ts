import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createTransport } from 'nodemailer'
import t, { type Test } from 'tap'
import { startMailCatcher } from '@tandem/local-servers/mail-catcher.ts'
import { freePort } from '@tandem/local-servers/ports.ts'
import { startNats, until } from '@tandem/test-kit'
import { connect } from 'nats'
import { needsBrowser, openBrowser } from '@tandem/test-kit/browser'
import { watchEvents } from './events.ts'
import { startStores } from '../../../services/identity/test/stores.ts'
import { startDevPage, type DevPageOptions } from './server.ts'

async function testPage (t: Test, options: Partial<DevPageOptions> = {}) {
  const dataDir = t.testdir()
  mkdirSync(path.join(dataDir, 'logs'))
  writeFileSync(path.join(dataDir, 'logs/gateway.log'), '')
  const mail = await startMailCatcher(path.join(dataDir, 'mails'))
  const port = await freePort()
  const gatewayUrl = (hostname: string) => `http://${hostname}:1234`
  const page = await startDevPage({ host: '127.0.0.1', port, dataDir, gatewayUrl, mail, stores: undefined, ...options })
  t.teardown(async () => await Promise.all([page.stop(), mail.stop()]))
  const url = `http://127.0.0.1:${port}`
  const get = async <Body>(route: string) => await (await fetch(url + route)).json() as Body
  const log = (line: object) => appendFileSync(path.join(dataDir, 'logs/gateway.log'), `${JSON.stringify(line)}\n`)
  const send = async (subject: string) =>
    await createTransport(mail.smtpUrl).sendMail({
      from: 'a@example.com',
      to: 'ana@example.com',
      subject,
      text: '123456'
    })
  return { ...page, url, get, log, send, dataDir }
}

t.test('mails are shown, by recipient, and can be deleted', async (t) => {
  const { url, get, send } = await testPage(t)
  await send('Your code')
  t.match(await get('/api/mails?to=ANA@example.com'), [{ subject: 'Your code', text: /123456/ }])
  t.same(await get('/api/mails?to=ben@example.com'), [])
  t.equal((await fetch(`${url}/api/mails`, { method: 'DELETE' })).status, 204)
  t.same(await get('/api/mails'), [])
})

t.test('an open page receives what happens at once', async (t) => {
  const { url, send } = await testPage(t)
  const response = await fetch(`${url}/api/live`)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  await send('Live')
  let text = ''
  while (!text.includes('"subject":"Live"')) text += (await reader.read()).value
  t.match(text, /event: mails\ndata: \{/)
  await reader.cancel()
})

t.test('stand-ins of the stores sell, change what they sold, and notify of it', async (t) => {
  const received: object[] = []
  const gateway = createServer((request, response) => {
    void json(request).then((body) => {
      received.push({ path: request.url, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  t.teardown(() => gateway.close())
  const { url } = await testPage(t, {
    stores: await startStores(t, { clock: () => new Date() }),
    gatewayUrl: () => `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  })
  const post = async (route: string, body: object) => {
    const response = await fetch(`${url}/api/stores${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    return { status: response.status, ...await response.json() as { purchase: string } }
  }
  const accountToken = '5b0f4a1e-9a53-4d59-8b86-1f0c7c1f4f0e'
  const changes = ['grace', 'hold', 'renew', 'cancel', 'refund', 'expire']
  for (
    const [store, productId, path, more] of [
      ['APPLE', 'premium.monthly', 'app-store', []],
      ['GOOGLE', 'premium', 'google-play', ['pause']],
      ['REVENUECAT', 'premium_rc', 'revenuecat', []]
    ] as const
  ) {
    const { purchase, ...bought } = await post('/buy', { store, productId, accountToken })
    t.match(bought, { status: 200, notified: 200 }, store)
    for (const to of [...changes, ...more]) {
      t.match(await post('/change', { store, purchase, to }), { status: 200, notified: 200 }, `${store} ${to}`)
    }
    t.match(received.at(-1), { path: `/api/mobile/v1/webhooks/${path}` })
    t.match(await post('/change', { store, purchase, to: 'fly' }), { status: 400, error: /renew, grace/ })
  }
})

t.test('a request is shown with the log lines of every process that took part', async (t) => {
  const { get, log, dataDir } = await testPage(t)
  const request = { requestId: 'one', traceId: 'trace' }
  log({
    ...request,
    time: '2026-01-01T00:00:00.002Z',
    name: 'gateway',
    msg: 'request completed',
    method: 'GET',
    status: 200
  })
  writeFileSync(
    path.join(dataDir, 'logs/social.log'),
    `${JSON.stringify({ traceId: 'trace', time: '2026-01-01T00:00:00.001Z', name: 'social', msg: 'read' })}\n`
  )
  await until(async () => (await get<object[]>('/api/requests')).length === 1)
  t.match(await get('/api/requests/one'), [{ name: 'social', msg: 'read' }, { name: 'gateway' }])
})

t.test('an event is shown in the moment it is published', async (t) => {
  const { get, feed } = await testPage(t)
  const nats = await startNats(t)
  const stop = await watchEvents(nats.url, feed)
  t.teardown(stop)
  const connection = await connect({ servers: nats.url })
  t.teardown(async () => await connection.close())
  connection.publish('evt.social.post.liked.v1', JSON.stringify({ type: 'social.post.liked.v1' }))
  await until(async () => (await get<object[]>('/api/events')).length === 1)
  t.same(await get('/api/events'), [{ type: 'social.post.liked.v1' }])
})

t.test('the accounts of the demo are listed; without a demo there are none', async (t) => {
  const { get, dataDir } = await testPage(t)
  t.same(await get('/api/accounts'), [])
  const people = [{ name: 'Ana', email: 'ana@example.com' }]
  writeFileSync(path.join(dataDir, 'demo.json'), JSON.stringify({ password: 'secret', people }))
  t.same(await get('/api/accounts'), [{ name: 'Ana', email: 'ana@example.com', password: 'secret' }])
})

t.test('the gateway is named by the address at which the page was opened', async (t) => {
  const { get } = await testPage(t)
  t.match(await get('/config.json'), { api: 'http://127.0.0.1:1234/api/mobile/v1' })
})

t.test('a log line that a full disk has cut is skipped', async (t) => {
  const { get, log, dataDir } = await testPage(t)
  const request = { requestId: 'one', time: '2026-01-01T00:00:00.002Z', msg: 'request completed' }
  appendFileSync(
    path.join(dataDir, 'logs/gateway.log'),
    '{"level":"info","requestId":"one","msg":"request comp\n{"level\n'
  )
  log(request)
  await until(async () => (await get<object[]>('/api/requests')).length > 0)
  t.match(await get('/api/requests'), [request])
  t.match(await get('/api/requests/one'), [request])
})

t.test('a website that points its own name here reads nothing', async (t) => {
  const { url } = await testPage(t)
  // fetch does not send another Host header.
  const status = await new Promise((resolve) => {
    request(`${url}/api/mails`, { headers: { host: 'attacker.example' } }, ({ statusCode }) => resolve(statusCode))
      .end()
  })
  t.equal(status, 403)
})

t.test('in a browser: the page is live, opens a mail by keyboard, and fits a phone', needsBrowser, async (t) => {
  const { url, send, dataDir } = await testPage(t)
  const people = [{ name: 'Ana', email: 'ana@example.com' }]
  writeFileSync(path.join(dataDir, 'demo.json'), JSON.stringify({ password: 'secret', people }))
  const browser = await openBrowser(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 800 }, colorScheme: 'dark' })
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await page.goto(url)
  await page.getByText('No mail yet').waitFor()
  await page.locator('.state.live').waitFor()

  await send('Seen at once')
  await page.getByText('Seen at once').waitFor()
  await page.getByRole('button', { name: 'Copy 123456' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('details[open] pre').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like it')
  await page.getByText('Nothing matches').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('3')
  await page.getByRole('tab', { selected: true, name: 'Events' }).waitFor()
  await page.getByLabel('Filter').fill('')
  await page.getByRole('tab', { name: 'Accounts' }).click()
  const inApp = page.getByRole('link', { name: 'Open in the app' })
  t.equal(await inApp.getAttribute('href'), '/app/sign-in?email=ana%40example.com')
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than the screen')
  t.same(errors, [])
})
