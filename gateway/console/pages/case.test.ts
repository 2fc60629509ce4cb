import { randomUUID } from 'node:crypto'
import t from 'tap'
import { rightsOf } from '@tandem/operator-kit'
import { at, opened, stored, testPages } from '../../test/console-pages.ts'
import { ALL_RIGHTS, givenCase } from '../../test/console.ts'

const { answers, rights, call, submit, received } = await testPages(t)

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

t.test('a comment shows those before it, if there are any', async (t) => {
  const show = async (around: object) => {
    answers.set('social GET /operator/cases/:id', {
      case: { ...opened, evidence: [{ content: { content: 'Ugly', around }, createdAt: at }] }
    })
    return (await call(`/cases/social/${opened.id}`)).text
  }
  t.notMatch(await show({ parent: null, before: [] }), 'The comments before it')
  t.match(await show({ parent: { content: 'Who asked?' }, before: [] }), /The comments before it<\/h3>.*Who asked\?/)
  answers.set('social GET /operator/cases/:id', { case: opened })
})

t.test('a post shows every text of it', async (t) => {
  const content = { content: '', otherTexts: ['An ugly place'] }
  for (const shown of [content, { content: 'Ugly', post: content }]) {
    answers.set('social GET /operator/cases/:id', {
      case: { ...opened, evidence: [{ content: shown, createdAt: at }] }
    })
    t.match((await call(`/cases/social/${opened.id}`)).text, '<p>An ugly place</p>')
  }
  answers.set('social GET /operator/cases/:id', { case: opened })
})

t.test('a moderator sees no form for a case that only administrators decide', async (t) => {
  const show = async (role: 'ADMIN' | 'MODERATOR', hidesPictures: boolean) => {
    rights.current = rightsOf(role)
    answers.set('social GET /operator/cases/:id', { case: { ...opened, isRestricted: true, hidesPictures } })
    return (await call(`/cases/social/${opened.id}`)).text
  }
  const sentence = 'Only administrators decide this case'
  t.teardown(() => {
    rights.current = ALL_RIGHTS
    answers.set('social GET /operator/cases/:id', { case: opened })
  })
  const text = await show('MODERATOR', true)
  t.match(text, sentence)
  t.notMatch(text, /name="verdict"|\/claim"/)
  for (const others of [await show('MODERATOR', false), await show('ADMIN', true)]) {
    t.match(others, 'name="verdict"')
    t.notMatch(others, sentence)
  }
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
  t.match(text, /Screenshots of the reporter/)
})
