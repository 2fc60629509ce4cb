import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { ConfigError } from '@tandem/process-kit'
import { serviceNames } from '../routes.ts'
import { givenCase, staff, testConsole } from '../test/console.ts'
import { readConsoleConfig } from './config.ts'

const world = await testConsole(t)
const { origin, services, answers, rights, call, submit, received } = world
const stored = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>'
const person = {
  accountId: randomUUID(),
  name: stored,
  email: 'b•••@example.com',
  emailVerified: false,
  memberSince: new Date().toISOString(),
  isLeaving: true,
  status: 'RESTRICTED',
  restrictions: [{ scope: 'POSTING', until: new Date().toISOString() }],
  strikes: 2,
  sessions: 1
}
const decision = {
  id: randomUUID(),
  caseService: 'social',
  caseId: randomUUID(),
  actions: [{ type: 'RESTRICT', scope: 'POSTING', until: new Date().toISOString() }],
  outcome: 'ACTION_TAKEN',
  reason: 'SPAM',
  statement: stored,
  note: stored,
  isAutomated: false,
  staffId: null,
  madeAt: new Date().toISOString(),
  awaits: ['fitmatch']
}
const opened = {
  ...givenCase({ personName: stored, excerpt: stored }),
  evidence: [{
    content: { content: stored, author: { name: stored, username: 'ben' } },
    createdAt: person.memberSince
  }],
  files: [{ number: 1, source: 'private/a.webp', sha256: 'ab' }],
  reports: [{ reason: 'SPAM', details: stored, createdAt: person.memberSince }]
}
const at = new Date().toISOString()

answers.set('social GET /operator/cases', { cases: [opened], nextCursor: null })
answers.set('fitmatch GET /operator/cases', { cases: [], nextCursor: null })
answers.set('social GET /operator/cases/:id', { case: opened })
answers.set('social POST /operator/cases/:id/claim', {})
answers.set('identity GET /operator/decisions', { decisions: [decision] })
answers.set('identity POST /operator/decisions', { id: randomUUID() })
answers.set('identity GET /operator/people', { person })
answers.set('profile GET /operator/people/:id', {
  person: { name: stored, username: 'ben', image: stored, age: 30, city: stored }
})
answers.set('identity GET /operator/mails', {
  mails: [{ id: randomUUID(), kind: 'decision', status: 'sent', attempts: 2, createdAt: at }]
})
answers.set('notification GET /operator/deliveries', {
  deliveries: [{
    id: randomUUID(),
    kind: 'SOCIAL_FEED',
    platform: 'IOS',
    deviceName: stored,
    status: 'sent',
    reason: null,
    attempts: 1,
    createdAt: at,
    finishedAt: at
  }]
})
answers.set('fitmatch GET /operator/verifications', {
  verifications: [{
    id: randomUUID(),
    accountId: randomUUID(),
    displayName: stored,
    submittedAt: at,
    hasSelfie: true,
    photos: [{ isMain: true }]
  }],
  nextCursor: null
})
answers.set('identity GET /operator/appeals', {
  appeals: [{
    id: randomUUID(),
    decisionId: randomUUID(),
    accountId: randomUUID(),
    text: stored,
    dueAt: at,
    createdAt: at,
    actions: decision.actions,
    reason: 'SPAM',
    statement: stored,
    excerpt: stored,
    decidedBy: staff.id
  }]
})
answers.set('identity GET /operator/issues', { issues: [{ at, email: stored, description: stored }] })
answers.set('identity GET /operator/erasures', {
  erasures: [{
    id: randomUUID(),
    accountId: randomUUID(),
    status: 'HELD',
    cause: 'OWNER',
    eraseAt: at,
    holdReason: stored
  }]
})
answers.set('notification GET /operator/broadcasts', {
  broadcasts: [{ id: randomUUID(), title: { en: stored, id: stored }, recipients: 1, createdAt: at, finishedAt: null }]
})
answers.set('profile GET /operator/options', {
  options: [{ optionId: 'running', labelEn: stored, labelId: stored, icon: stored, sortOrder: 1, isActive: true }]
})
answers.set('profile POST /operator/options', {})
answers.set('profile PUT /operator/options', {})
answers.set('identity GET /operator/staff', {
  staff: [{ ...staff, disabledAt: null, passkeys: 1, lastSeenAt: at }, {
    id: randomUUID(),
    email: stored,
    role: 'SUPPORT',
    disabledAt: null,
    passkeys: 0,
    lastSeenAt: null
  }]
})
const proposal = {
  id: randomUUID(),
  kind: 'BAN',
  subject: stored,
  accountId: randomUUID(),
  reason: stored,
  payload: { statement: stored },
  proposedBy: randomUUID(),
  createdAt: at,
  expiresAt: at
}
answers.set('identity GET /operator/proposals', { proposals: [proposal, { ...proposal, proposedBy: staff.id }] })
for (const name of ['social', 'fitmatch', 'notification']) {
  answers.set(`${name} GET /operator/proposals`, { proposals: [] })
}
answers.set('identity GET /operator/exports', {
  exports: [{
    id: randomUUID(),
    accountId: randomUUID(),
    status: 'RUNNING',
    progress: 50,
    bytes: null,
    requestedAt: at
  }]
})
for (const name of serviceNames) {
  answers.set(`${name} GET /operator/health`, {
    status: 'ready',
    degraded: true,
    down: [stored],
    failedMessages: 1,
    deadLetters: 1
  })
  answers.set(`${name} GET /operator/dead-letters`, {
    deadLetters: [{ key: 'a b/c', type: 'x.v1', attempts: 3, error: stored, firstFailedAt: at, deadSince: at }]
  })
  answers.set(`${name} GET /operator/audit`, {
    entries: [{
      number: 7,
      staffId: staff.id,
      role: 'ADMIN',
      action: 'GET /operator/cases',
      subject: stored,
      reason: stored,
      requestId: 'r-1',
      createdAt: at
    }],
    nextCursor: '7'
  })
}

const pages = [
  '/queue',
  `/cases/social/${opened.id}`,
  '/people',
  `/people/${person.accountId}?reason=case%207`,
  `/people/${person.accountId}/messages?reason=case%207`,
  '/verifications',
  '/appeals',
  '/issues',
  '/erasures',
  '/broadcasts',
  '/proposals',
  '/dead-letters',
  '/system',
  '/staff',
  '/options?type=sport',
  '/audit?service=social'
]

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
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'x']) {
    t.match((await call(`/sign-in?next=${encodeURIComponent(next)}`)).text, /data-next="\/"/, next)
  }
})

t.test('a role sees its own pages only', async (t) => {
  rights.current = ['health.read', 'people.read', 'issues.read']
  t.teardown(() => {
    rights.current = world.rights.current
  })
  t.equal((await call('/audit')).status, 404)
  t.equal((await submit('/next', [])).status, 404)
  const { text } = await call('/people')
  t.match(text, /href="\/issues"/)
  t.notMatch(text, /href="\/(audit|queue|staff)"/)
  t.match(await call('/'), { status: 302, headers: { location: '/people' } })
  rights.current = (await import('../test/console.ts')).ALL_RIGHTS
})

t.test('the queues of all services are one, page by page, each case once', async (t) => {
  const all = { social: [] as ReturnType<typeof givenCase>[], fitmatch: [] as ReturnType<typeof givenCase>[] }
  for (let index = 0; index < 70; index++) {
    all[index % 3 === 0 ? 'fitmatch' : 'social'].push(givenCase({ priority: 1 + index % 3 }))
  }
  const order = (a: { priority: number, id: string }, b: { priority: number, id: string }) =>
    b.priority - a.priority || (a.id < b.id ? -1 : 1)
  for (const service of ['social', 'fitmatch'] as const) {
    const sorted = all[service].sort(order)
    answers.set(`${service} GET /operator/cases`, ({ url }) => {
      const query = new URLSearchParams(url.split('?')[1])
      const limit = Number(query.get('limit'))
      const from = sorted.findIndex(({ priority, id }) => `${priority}:${id}` === query.get('cursor')) + 1
      const page = sorted.slice(from, from + limit)
      const last = page.at(-1)
      return { cases: page, nextCursor: from + limit < sorted.length ? `${last?.priority}:${last?.id}` : null }
    })
  }
  const seen: string[] = []
  let next: string | undefined = '/queue'
  while (next) {
    const { text } = await call(next)
    seen.push(...[...text.matchAll(/href="\/cases\/\w+\/([0-9a-f-]+)"/g)].map(([, id = '']) => id))
    next = /href="(\/queue\?cursor=[^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  t.same(seen, [...all.social, ...all.fitmatch].sort(order).map(({ id }) => id))

  await services.fitmatch.stop()
  const { status, text } = await call('/queue')
  t.match({ status, text }, { status: 200, text: /Not available at the moment: fitmatch/ })
  t.equal([...text.matchAll(/href="\/cases\/social/g)].length, 25, 'the rest stands')
  await services.fitmatch.start()
})

t.test('options are added, changed, retired and offered again', async (t) => {
  const send = async (path: string, fields: [string, string][]) => {
    services.profile.received.length = 0
    t.match(await submit(path, [['type', 'sport'], ['optionId', 'padel'], ...fields]), {
      status: 303,
      headers: { location: '/options?type=sport&done=option' }
    })
    const { method, body } = services.profile.received[0]!
    return [method, JSON.parse(String(body)) as object]
  }
  const labels: [string, string][] = [['labelEn', 'Padel'], ['labelId', 'Padel'], ['icon', '🎾']]
  const option = { type: 'sport', optionId: 'padel' }
  const shown = { ...option, labelEn: 'Padel', labelId: 'Padel', icon: '🎾' }
  t.same(await send('/options', labels), ['POST', shown])
  t.same(await send('/options/change', [...labels, ['sortOrder', '7'], ['then', 'save']]), [
    'PUT',
    { ...shown, sortOrder: 7 }
  ])
  t.same(await send('/options/change', [...labels, ['then', 'retire']]), ['PUT', { ...option, isActive: false }])
  t.same(await send('/options/change', [...labels, ['then', 'restore']]), ['PUT', { ...option, isActive: true }])
})

t.test('a report of what happened at an activity shows the activity', async (t) => {
  const activity = {
    title: stored,
    sport: 'running',
    date: '2026-11-28',
    startTime: '18:00',
    endTime: '19:00',
    timezone: 'Asia/Jakarta',
    locationName: stored,
    venue: null,
    note: stored,
    hostedBy: 'REPORTED',
    reporter: { state: 'ACCEPTED', checkedInAt: at },
    reported: { state: 'ACCEPTED', checkedInAt: null }
  }
  const evidence = [{ content: { displayName: 'Ben', activity }, createdAt: at }]
  answers.set('fitmatch GET /operator/cases/:id', { case: { ...opened, evidence } })
  const { text } = await call(`/cases/fitmatch/${opened.id}`)
  t.match(text, /2026-11-28 18:00–19:00 Asia\/Jakarta/)
  t.match(text, /<dt>Host<\/dt><dd>Reported person<\/dd>/)
  t.match(text, /<dt>Reporter<\/dt><dd>ACCEPTED, checked in<\/dd>/)
  t.notMatch(text, /<script>|undefined/)
})

t.test('a decision is sent as the operator made it, and the next case is taken', async (t) => {
  const another = givenCase()
  answers.set('social GET /operator/cases', {
    cases: [givenCase({ claimedBy: randomUUID() }), opened, another],
    nextCursor: null
  })
  answers.set('fitmatch GET /operator/cases', { cases: [], nextCursor: null })
  const fields: [string, string][] = [
    ['version', '1'],
    ['accountId', opened.accountId],
    ['verdict', 'ACT'],
    ['action', 'HIDE_CONTENT'],
    ['action', 'RESTRICT'],
    ['scope', 'POSTING'],
    ['days', '7'],
    ['reason', 'SPAM'],
    ['statement', ' You advertised.\r\nStop it. '],
    ['note', ''],
    ['then', 'next']
  ]
  t.match(await submit(`/cases/social/${opened.id}`, fields), {
    status: 303,
    headers: { location: `/cases/social/${another.id}?done=decided` }
  })
  t.same(received('identity', '/operator/decisions').findLast(({ method }) => method === 'POST')?.body, {
    case: { service: 'social', id: opened.id, version: 1 },
    accountId: opened.accountId,
    actions: [{ type: 'HIDE_CONTENT' }, { type: 'RESTRICT', scope: 'POSTING', days: 7 }],
    reason: 'SPAM',
    statement: 'You advertised.\nStop it.'
  })
  t.equal(received('social', `/operator/cases/${another.id}/claim`).length, 1)

  answers.set('identity POST /operator/decisions', { refusal: [409, 'CASE_CHANGED'] })
  const changed = await submit(`/cases/social/${opened.id}`, [...fields, ['statement', 'x'], [
    'note',
    'A longer note to keep'
  ]])
  t.match(changed, { status: 409, text: /The case has changed.*<blockquote>A longer note to keep/s })

  answers.set('identity POST /operator/decisions', { refusal: [403, 'PROOF_REQUIRED'] })
  const proof = await submit(`/cases/social/${opened.id}`, fields)
  t.match(proof, { status: 403, text: /data-passkey="\/confirm"/ })
  t.match(proof.text, '<input type="hidden" name="action" value="RESTRICT">', 'the same form is sent again')
})

t.test('marked cases are dismissed one by one, and those that changed stay', async (t) => {
  let decided = 0
  answers.set(
    'identity POST /operator/decisions',
    () => decided++ === 1 ? { refusal: [409, 'CASE_CHANGED'] } : { id: randomUUID() }
  )
  const marks = [1, 2, 3].map((
    version
  ): [string, string] => ['case', `social ${randomUUID()} ${version} ${randomUUID()}`])
  t.match(await submit('/queue/dismiss', marks), { headers: { location: '/queue?count=2&changed=1' } })
  t.match(received('identity', '/operator/decisions').at(-1)?.body, {
    case: { service: 'social', version: 3 },
    actions: [{ type: 'DISMISS' }],
    statement: ''
  })
})

t.test('what takes two operators says so, and another one confirms it', async (t) => {
  answers.set('identity POST /operator/decisions', { proposalId: randomUUID(), expiresAt: at })
  const ban: [string, string][] = [['action', 'BAN'], ['reason', 'SPAM'], ['statement', 'You sold pills.'], [
    'why',
    'case 7'
  ]]
  t.match(await submit(`/people/${person.accountId}/decisions`, ban), {
    status: 303,
    headers: { location: `/people/${person.accountId}?reason=case+7&done=proposed` }
  })
  const { text } = await call('/proposals')
  t.equal([...text.matchAll(/\/confirm"/g)].length, 1, 'nobody confirms their own')
  t.equal([...text.matchAll(/\/withdraw"/g)].length, 2)
  answers.set('identity POST /operator/proposals/:id/confirm', {})
  t.match(await submit(`/proposals/identity/${proposal.id}/confirm`, []), {
    headers: { location: '/proposals?done=proposal-confirm' }
  })
  t.equal((await submit(`/proposals/profile/${proposal.id}/confirm`, [])).status, 404)
})

t.test('a broadcast is tested on oneself, and the form stays', async (t) => {
  answers.set('notification POST /operator/broadcasts/test', {})
  const fields: [string, string][] = [['title-en', 'Hi'], ['title-id', 'Halo'], ['body-en', 'News'], [
    'body-id',
    'Kabar'
  ]]
  t.match(await submit('/broadcasts', [...fields, ['to', 'me']]), {
    status: 200,
    text: /Only you received it.*>News<\/textarea>/s
  })
  t.same(received('notification', '/operator/broadcasts/test').at(-1)?.body, {
    title: { en: 'Hi', id: 'Halo' },
    body: { en: 'News', id: 'Kabar' }
  })
  t.equal(received('notification', '/operator/broadcasts').filter(({ method }) => method === 'POST').length, 1)
})

t.test('holds and their ends carry a reason', async (t) => {
  const holds = ['social POST /operator/cases/:id/hold', 'identity POST /operator/erasures/:id/release']
  for (const each of holds) answers.set(each, {})
  const because: [string, string][] = [['reason', 'the police asks']]
  t.match(await submit(`/cases/social/${opened.id}/hold`, because), {
    headers: { location: `/cases/social/${opened.id}?done=case-hold` }
  })
  const erasure = randomUUID()
  t.match(await submit(`/erasures/${erasure}/release`, because), { headers: { location: '/erasures?done=released' } })
  t.same(received('social', `/operator/cases/${opened.id}/hold`).at(-1)?.body, { reason: 'the police asks' })
  t.same(received('identity', `/operator/erasures/${erasure}/release`).at(-1)?.body, { reason: 'the police asks' })
})

t.test('a search leaves no address in a URL of the console', async (t) => {
  const { headers } = await submit('/people', [['q', 'ben@example.com'], ['reason', 'case 7']])
  t.equal(headers.location, `/people/${person.accountId}?reason=case+7`)
  t.match((await call(`/people/${person.accountId}`)).text, /name="reason"/, 'nothing is shown without a reason')
})

t.test('pictures are passed on from services only, and are not cached', async (t) => {
  answers.set('social GET /operator/cases/:id/files/1', Buffer.from('webp'))
  t.match(await call(`/cases/social/${opened.id}/files/1`), {
    status: 200,
    text: 'webp',
    headers: { 'content-type': 'image/webp', 'cache-control': 'no-store' }
  })
  t.equal((await call(`/cases/social/${opened.id}/files/2`)).status, 404)
  t.equal((await call(`/cases/identity/${opened.id}/files/1`)).status, 404)
  const { text } = await call(`/cases/social/${opened.id}`)
  t.same([...text.matchAll(/src="([^"]+)"/g)].map(([, src]) => src), [
    '/assets/console.js',
    `/cases/social/${opened.id}/files/1`
  ])
  t.match(text, /<details class="picture">.*loading="lazy"/s)
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

t.test('its address is https or localhost', (t) => {
  const urls = Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, 'http://x']))
  const read = (env: NodeJS.ProcessEnv) => readConsoleConfig({ ...urls, ...env })
  for (const url of ['http://console.example', 'http://127.0.0.1:8090', 'ftp://localhost', 'https://a.example/path']) {
    t.throws(() => read({ CONSOLE_URL: url }), ConfigError, url)
  }
  for (const ranges of ['10.0.0.0/33', 'home', '1.2.3']) {
    t.throws(() => read({ CONSOLE_ALLOW: ranges }), ConfigError, ranges)
  }
  t.equal(read({ CONSOLE_URL: 'https://console.example/' }).origin, 'https://console.example')
  t.equal(read({}).origin, 'http://localhost:8090')
  t.end()
})

t.test('the script has at most 8 KiB', (t) => {
  t.ok(statSync(path.join(import.meta.dirname, 'assets/console.js')).size <= 8 * 1024)
  t.end()
})
