import { statSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { ConfigError } from '@tandem/process-kit'
import { serviceNames as gatewayServiceNames } from '../routes.ts'
import { pages, person, testPages } from '../test/console-pages.ts'
import { ALL_RIGHTS, testConsole } from '../test/console.ts'
import { readConsoleConfig } from './config.ts'
import { serviceNames } from './services.ts'

const { origin, services, rights, call, submit } = await testPages(t)

t.test('every page is HTML in both languages, where stored HTML stays text', async (t) => {
  for (const page of pages) {
    for (const language of ['en', 'id']) {
      const { status, text, headers } = await call(page, { headers: { 'accept-language': language } })
      t.match({ status, headers }, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } }, page)
      t.match(text, `<html lang="${language}">`)
      t.notMatch(text, /<script>|<img src=x|undefined|\[object/, `${page} in ${language}`)
    }
  }
})

t.test('each answer has the security headers, and nothing is kept', async (t) => {
  for (const page of [...pages, '/sign-in', '/enroll', '/nowhere', '/assets/style.css', '/health/live']) {
    const { headers } = await call(page)
    t.match(headers, {
      'content-security-policy': /^default-src 'none'; script-src 'self'; .*require-trusted-types-for 'script'$/,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': page.startsWith('/assets') ? /^private/ : 'no-store'
    }, page)
  }
})

t.test('a form of another site, another host or an address that is not allowed is refused', async (t) => {
  const send = async (headers: Record<string, string | undefined>) =>
    (await submit('/language', [['language', 'id']], headers as Record<string, string>)).status
  t.equal(await send({}), 303)
  for (const site of ['cross-site', 'same-site', 'none']) t.equal(await send({ 'sec-fetch-site': site }), 403, site)
  t.equal((await call('/sign-out', { method: 'POST' })).status, 403, 'neither header')
  const old = async (from: string) => (await call('/language', { method: 'POST', headers: { origin: from } })).status
  t.equal(await old('https://evil.example'), 403)
  t.equal(await old('null'), 403)
  t.equal(await old(origin), 303, 'an old browser')
  t.equal(await send({ host: 'evil.example' }), 403)
  t.match(await call('/queue', { headers: { host: '127.0.0.1:1' } }), {
    status: 302,
    headers: { location: `${origin}/queue` }
  })
  const closed = await testConsole(t, { env: { CONSOLE_ALLOW: '10.0.0.0/8,::1' } })
  t.equal((await closed.call('/sign-in')).status, 403)
  t.equal((await closed.call('/health/live')).status, 200)
  const open = await testConsole(t, { env: { CONSOLE_ALLOW: '127.0.0.0/8' } })
  t.equal((await open.call('/sign-in')).status, 200)
})

t.test('by default, this machine and private networks open it', async (t) => {
  const { call } = await testConsole(t, { env: { TRUST_PROXY: '127.0.0.1', CONSOLE_ALLOW: '' } })
  const statusFrom = async (address: string) =>
    (await call('/sign-in', { headers: { 'x-forwarded-for': address } })).status
  const inside = ['127.0.0.1', '::1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.65.1', 'fd00::7']
  for (const address of inside) t.equal(await statusFrom(address), 200, address)
  const outside = ['203.0.113.9', '172.32.0.1', '100.64.0.1', '169.254.169.254', '2001:db8::1', '::ffff:203.0.113.9']
  for (const address of outside) t.equal(await statusFrom(address), 403, address)
  const open = await testConsole(t, { env: { TRUST_PROXY: '127.0.0.1', CONSOLE_ALLOW: '0.0.0.0/0,::/0' } })
  for (const address of ['203.0.113.9', '2001:db8::1']) {
    t.equal((await open.call('/sign-in', { headers: { 'x-forwarded-for': address } })).status, 200, address)
  }
})

t.test('before a sign-in, no body is an error of the server', async (t) => {
  const json = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  for (const path of ['/sign-in', '/enroll', '/confirm']) {
    for (const step of [path, `${path}/options`]) {
      for (const body of ['null', '[]', '7', '"x"', '{}', '{"response":null}', '{"token":{}}', '{', '']) {
        const { status } = await call(step, { method: 'POST', headers: { ...json, cookie: '' }, body })
        t.ok(status >= 400 && status < 500, `${step} with ${body} is ${status}`)
      }
    }
  }
})

t.test('options of passkeys are limited by address', async (t) => {
  const { answers, call, received } = await testConsole(t, { env: { TRUST_PROXY: '127.0.0.1' } })
  answers.set('identity POST /operator/sign-in/options', { challenge: 'x' })
  const ask = async (address: string, path = '/sign-in') =>
    await call(`${path}/options`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address }
    })
  const answersOf = await Promise.all(Array.from({ length: 70 }, async () => await ask('10.0.0.1')))
  t.equal(answersOf.filter(({ status }) => status === 200).length, 60)
  t.match(await ask('10.0.0.1', '/enroll'), {
    status: 429,
    text: /too many attempts/,
    headers: { 'retry-after': /^\d+$/ }
  })
  t.equal(received('identity', '/operator/sign-in/options').length, 60, 'identity has no more rows')
  t.equal((await ask('10.0.0.2')).status, 200, 'others sign in')
})

t.test('without a session there is only the page to sign in', async (t) => {
  services.social.received.length = 0
  for (const cookie of ['', '__Host-session=ended']) {
    for (const page of pages) {
      const { status, headers } = await call(page, { headers: { cookie } })
      t.match({ status, location: headers.location }, {
        status: 302,
        location: `/sign-in?next=${encodeURIComponent(page)}`
      })
    }
    t.match(await submit('/next', [], { cookie }), { status: 401, text: /Your session has ended/ })
  }
  t.same(services.social.received, [], 'no service was asked')
  const foreign = [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/x/..//evil.example'
  ]
  t.match(await call('/sign-in?next=/queue&next=/audit'), { status: 200, text: /data-next="\/"/ }, 'of two, neither')
  for (const next of [...foreign, 'x']) {
    t.match((await call(`/sign-in?next=${encodeURIComponent(next)}`)).text, /data-next="\/"/, next)
  }
})

t.test('what is said to be done is one of the texts', async (t) => {
  for (const done of ['__proto__', 'constructor', 'toString', 'nothing']) {
    const { status, text } = await call(`/queue?done=${done}`)
    t.equal(status, 200, done)
    t.notMatch(text, 'note good', done)
  }
})

t.test('a role sees its own pages only', async (t) => {
  rights.current = ['health.read', 'people.read', 'issues.read']
  t.teardown(() => {
    rights.current = ALL_RIGHTS
  })
  t.equal((await call('/audit')).status, 404)
  t.equal((await submit('/next', [])).status, 404)
  const { text } = await call('/people')
  t.match(text, /href="\/issues"/)
  t.notMatch(text, /href="\/(audit|queue|staff)"/)
  t.match(await call('/'), { status: 302, headers: { location: '/people' } })
})

t.test('while a service is down, its part is named and the pages stand', async (t) => {
  for (const name of serviceNames.filter((each) => each !== 'identity')) {
    await services[name].stop()
    for (const page of pages.filter((each) => !each.startsWith('/cases'))) {
      const { status, text } = await call(page)
      t.equal(status, 200, `${page} without ${name}`)
      t.match(text, '<h1>')
    }
    t.match((await call('/system')).text, new RegExp(`Not available at the moment: ${name}`))
    await services[name].start()
  }
  await services.identity.stop()
  for (const page of pages) t.match(await call(page), { status: 503, text: /identity service does not respond/ }, page)
  t.equal((await call('/sign-in')).status, 200)
  await services.identity.start()
})

t.test('what a service that is down did not answer is not said to be nothing', async (t) => {
  const { answers, services, call } = await testPages(t)
  for (const name of serviceNames) {
    answers.set(`${name} GET /operator/dead-letters`, { deadLetters: [] })
    answers.set(`${name} GET /operator/calls`, { operations: [] })
    answers.set(`${name} GET /operator/cases`, { cases: [], nextCursor: null })
    answers.set(`${name} GET /operator/mails`, { mails: [] })
    answers.set(`${name} GET /operator/deliveries`, { deliveries: [] })
  }
  const path = `/people/${person.accountId}`
  const shown = [
    ['/dead-letters', 'social'],
    ['/calls', 'social'],
    [`${path}?reason=case`, 'social'],
    [`${path}/messages?reason=case`, 'notification']
  ] as const
  for (const [page, name] of shown) {
    t.notMatch((await call(page)).text, /class="empty">Not available/, page)
    await services[name].stop()
    t.match((await call(page)).text, /class="empty">Not available/, page)
    await services[name].start()
  }
})

t.test('it knows every service', (t) => {
  t.same([...serviceNames].sort(), [...gatewayServiceNames].sort())
  t.end()
})

t.test('its address is https or localhost', (t) => {
  const urls = Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, 'http://x']))
  const read = (env: NodeJS.ProcessEnv) => readConsoleConfig({ ...urls, ...env })
  for (const url of ['http://console.example', 'http://127.0.0.1:8090', 'ftp://localhost', 'https://a.example/path']) {
    t.throws(() => read({ CONSOLE_URL: url }), ConfigError, url)
  }
  for (const ranges of ['10.0.0.0/33', 'home', '1.2.3']) {
    t.throws(() => read({ CONSOLE_ALLOW: ranges }), ConfigError, ranges)
  }
  t.throws(() => read({ CONSOLE_URL: 'https://console.example' }), { message: /TRUST_PROXY/ })
  const behindProxy = { CONSOLE_URL: 'https://console.example/', TRUST_PROXY: 'uniquelocal' }
  t.equal(read(behindProxy).origin, 'https://console.example')
  t.equal(read({}).origin, 'http://localhost:8090')
  t.end()
})

t.test('the script has at most 8 KiB', (t) => {
  t.ok(statSync(path.join(import.meta.dirname, 'assets/console.js')).size <= 8 * 1024)
  t.end()
})
