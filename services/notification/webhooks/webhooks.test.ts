import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { webhookData, WEBHOOK_TYPES } from '@tandem/contracts'
import { operatorBearer } from '@tandem/operator-kit/testing'
import { testApp } from '../test/app.ts'
import { deleteExpired } from '../housekeeping.ts'
import { reportMatchCounts } from './match-counts.ts'

const { app, db, deps, receive } = await testApp(t)

async function operate (method: 'GET' | 'POST', path: string, payload?: object) {
  const response = await app.inject({ method, url: path, headers: operatorBearer(), ...(payload && { payload }) })
  return { status: response.statusCode, ...response.json() }
}

const add = async (...eventTypes: string[]) =>
  (await operate('POST', '/operator/webhooks', { url: 'https://crm.example.com/hooks', eventTypes })).data as {
    id: string,
    secret: string
  }

/** What is sent to an endpoint, oldest first. */
const sentTo = async (endpointId: string) =>
  await db.selectFrom('webhook_deliveries').innerJoin('webhook_messages', 'webhook_messages.id', 'message_id')
    .where('endpoint_id', '=', endpointId)
    .select(['webhook_messages.id', 'type', 'data', 'webhook_deliveries.status', 'error'])
    .orderBy('webhook_deliveries.id')
    .execute()

t.test('an endpoint gets what it asks for, once for each event, and only what its schema says', async (t) => {
  const all = await add(...WEBHOOK_TYPES)
  const few = await add('account.verified')
  const [accountId, other, id] = [randomUUID(), randomUUID(), randomUUID()]
  const registered = { accountId, name: 'Ana', usernameSeed: 'ana', locale: 'id', image: 'https://a.example/ana.webp' }
  for (let repeat = 0; repeat < 3; repeat++) await receive('identity.account.registered.v1', registered, { id })
  await receive('identity.account.verified.v1', { accountId })
  await receive('identity.subscription.changed.v1', {
    accountId,
    planId: 'premium',
    status: 'ACTIVE',
    currentPeriodStart: '2026-11-01T00:00:00.000Z',
    currentPeriodEnd: '2026-12-01T00:00:00.000Z',
    entitlements: ['see_likes']
  })
  await receive('social.post.created.v1', { postId: randomUUID(), authorId: accountId })
  await receive('social.report.resolved.v1', { reportId: randomUUID(), reporterId: other, outcome: 'NO_VIOLATION' })
  await receive('fitmatch.report.resolved.v1', { reportId: randomUUID(), reporterId: other, action: 'SUSPEND' })

  const sent = await sentTo(all.id)
  t.same(sent.map(({ type }) => type), [
    'account.registered',
    'account.verified',
    'subscription.changed',
    'post.created',
    'report.decided',
    'report.decided'
  ])
  t.equal(sent[0]!.id, id)
  t.same(sent[0]!.data, { accountId, locale: 'id' })
  for (const { type, data } of sent) {
    const schema = webhookData[type]
    t.ok(Compile(schema).Check(data), type)
    t.same(Object.keys(data).filter((field) => !(field in schema.properties)), [], type)
  }
  t.notMatch(JSON.stringify(sent), other, 'nobody who reported')
  t.same((await sentTo(few.id)).map(({ type }) => type), ['account.verified'])
})

t.test('matches leave as a count for each hour that is over, exactly', async (t) => {
  const { id } = await add('match.created')
  const match = () => ({ matchId: randomUUID(), accountIds: [randomUUID(), randomUUID()], matchType: 'LIKE' })
  const hour = new Date(Date.UTC(2026, 5, 1, 7))
  const inHour = new Date(hour.getTime() + 12 * 60_000)
  const repeated = randomUUID()
  for (let count = 0; count < 5; count++) await receive('fitmatch.match.made.v1', match(), { at: inHour })
  for (let count = 0; count < 3; count++) {
    await receive('fitmatch.match.made.v1', match(), { at: inHour, id: repeated })
  }
  await receive('fitmatch.match.made.v1', match())
  await Promise.all([reportMatchCounts(deps), reportMatchCounts(deps), reportMatchCounts(deps)])
  const from = hour.toISOString()
  t.match(await sentTo(id), [{ type: 'match.created', data: { count: 6, from, to: '2026-06-01T08:00:00.000Z' } }])

  await receive('fitmatch.match.made.v1', match(), { at: inHour })
  await reportMatchCounts(deps)
  t.match((await sentTo(id)).map(({ data }) => data), [{ count: 6, from }, { count: 1, from }])
})

t.test('an erased account sends that it was deleted, and nothing later', async (t) => {
  const { id } = await add('account.registered', 'account.verified', 'account.deleted', 'post.created')
  const [accountId, erasureId] = [randomUUID(), randomUUID()]
  await receive('identity.account.registered.v1', { accountId, name: 'Ana', usernameSeed: 'ana', locale: 'id' })
  t.equal((await sentTo(id)).length, 1)
  await receive('identity.account.erasing.v1', { erasureId, accountId })
  await receive('identity.account.erasing.v1', { erasureId, accountId })
  await receive('identity.account.verified.v1', { accountId })
  await receive('social.post.created.v1', { postId: randomUUID(), authorId: accountId })
  const sent = [{ type: 'account.deleted', data: { accountId } }]
  t.match(await sentTo(id), sent)
  t.equal((await sentTo(id)).length, 1)

  await deps.erasure.eraseDue()
  t.match(await operate('POST', `/operator/webhooks/${id}/replay`, { since: '2026-01-01T00:00:00Z' }), { status: 200 })
  t.match(await sentTo(id), sent)
  t.same((await deps.erasure.verify(accountId)).left, {})
})

t.test('an event that races with the erasure of its account is not sent after it', async (t) => {
  const { id } = await add('account.verified', 'account.deleted')
  for (let round = 0; round < 10; round++) {
    const accountId = randomUUID()
    await Promise.all([
      ...Array.from({ length: 4 }, async () => await receive('identity.account.verified.v1', { accountId })),
      receive('identity.account.erasing.v1', { erasureId: randomUUID(), accountId })
    ])
    const of = (await sentTo(id)).filter(({ data }) => (data as { accountId: string }).accountId === accountId)
    t.same(of.map(({ type }) => type), ['account.deleted'])
  }
})

t.test('only addresses that can be public are added', async (t) => {
  const add = async (url: string) =>
    (await operate('POST', '/operator/webhooks', { url, eventTypes: ['account.verified'] })).status
  const refused = [
    'http://crm.example.com',
    'ftp://crm.example.com',
    'https://user:password@crm.example.com',
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://169.254.169.254/latest',
    'not a url'
  ]
  for (const url of refused) t.equal(await add(url), 400, url)
  t.equal(await add('https://crm.example.com:8443/hooks?team=crm'), 201)
  t.match(await operate('POST', '/operator/webhooks', { url: 'https://crm.example.com', eventTypes: ['secrets'] }), {
    status: 400
  })
})

t.test('an endpoint is disabled and enabled, and what happened is replayed from a time', async (t) => {
  const { id } = await add('account.verified')
  const verified = { accountId: randomUUID() }
  await receive('identity.account.verified.v1', verified, { at: new Date('2030-10-01T00:00:00Z') })
  await receive('identity.account.verified.v1', verified, { at: new Date('2030-10-02T00:00:00Z') })
  t.match(await operate('POST', `/operator/webhooks/${id}/disable`), { status: 200 })
  t.match(await operate('POST', `/operator/webhooks/${id}/disable`), { status: 404, code: 'NOT_FOUND' })
  t.match(await sentTo(id), [{ status: 'failed', error: 'the endpoint was disabled' }, { status: 'failed' }])
  await receive('identity.account.verified.v1', verified, { at: new Date('2030-10-03T00:00:00Z') })
  t.equal((await sentTo(id)).length, 2, 'nothing is sent to it')
  const replay = async (since: string) => await operate('POST', `/operator/webhooks/${id}/replay`, { since })
  t.match(await replay('2030-10-02T00:00:00Z'), { status: 409, code: 'WEBHOOK_DISABLED' })
  t.match(await operate('POST', `/operator/webhooks/${id}/enable`), { status: 200 })
  t.match(await operate('POST', `/operator/webhooks/${id}/enable`), { status: 404 })
  t.match(await replay('2030-10-02T00:00:00Z'), { status: 200, data: { count: 2 } })
  t.match((await sentTo(id)).map(({ status }) => status), ['failed', 'pending', 'pending'])
  t.match(await replay('2030-10-01T00:00:00Z'), { status: 200, data: { count: 1 } })
  t.match(await operate('POST', `/operator/webhooks/${randomUUID()}/replay`, { since: '2030-10-01T00:00:00Z' }), {
    status: 404
  })

  const { data: { endpoints, deliveries } } = await operate('GET', '/operator/webhooks')
  t.match(endpoints.find((each: { id: string }) => each.id === id), {
    url: 'https://crm.example.com/hooks',
    eventTypes: ['account.verified'],
    pending: 3,
    disabledAt: null
  })
  t.match(deliveries[0], { type: 'account.verified', attempts: 0, error: null })
  t.notMatch(JSON.stringify({ endpoints, deliveries }), /whsec_/)
})

t.test('deliveries are kept for 14 days', async (t) => {
  const { id } = await add('account.verified')
  for (let count = 0; count < 2; count++) {
    await receive('identity.account.verified.v1', { accountId: randomUUID() })
  }
  const [old] = await sentTo(id)
  await sql`update webhook_messages set created_at = now() - interval '15 days' where id = ${old!.id}`.execute(db)
  await deleteExpired(db)
  t.equal((await sentTo(id)).length, 1)
})
