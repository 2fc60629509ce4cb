import { sql } from 'kysely'
import t from 'tap'
import { inParallel, testApp } from '../test/app.ts'

const { db, post, get, givenAccount, givenSession, canRefresh, login, publishedEvents } = await testApp(t)

const activeSessionsOf = async (accountId: string) =>
  (await db.selectFrom('sessions').where('account_id', '=', accountId).where('ended_at', 'is', null).select('id')
    .execute()).map(({ id }) => id)
const endedEvents = async (accountId: string) =>
  (await publishedEvents(accountId)).filter(({ type }) => type === 'sessions.ended').map(({ sessionIds }) =>
    sessionIds as string[]
  )

t.test('signing out everywhere ends every session, however many there are', async (t) => {
  const account = await givenAccount()
  await sql`insert into sessions (account_id, ip_address) select ${account.id}, 'unknown' from generate_series(1, 1749)`
    .execute(db)
  const sessions = await activeSessionsOf(account.id)
  t.equal(sessions.length, 1_750)
  t.match(await post('/auth/logout', { allDevices: true }, { as: account }), { status: 200 })

  const events = await endedEvents(account.id)
  t.strictSame(events.flat().sort(), sessions.sort(), 'each ended session is published once')
  for (const sessionIds of events) t.ok(sessionIds.length <= 1_000)
  t.strictSame(
    await db.selectFrom('outbox').where('subject', '=', account.id).where('rejected_reason', 'is not', null).select(
      'id'
    ).execute(),
    []
  )
})

t.test('an account has at most 50 active sessions: a new one ends the least recently used', async (t) => {
  const account = await givenAccount()
  const oldest = await givenSession(account)
  await sql`update sessions set last_used_at = now() - interval '1 day' where id = ${oldest.sessionId}`.execute(db)
  for (let number = 3; number <= 50; number++) await givenSession(account)
  t.ok(await canRefresh(account))
  t.strictSame(await endedEvents(account.id), [])

  t.match(await login(account.email), { status: 200 })
  t.strictSame(await endedEvents(account.id), [[oldest.sessionId]])
  t.notOk(await canRefresh(oldest))
  t.match(await get('/auth/sessions', { as: account }), { status: 200, data: { totalSessions: 50 } })
})

t.test('30 concurrent sign-ins end each excess session once', async (t) => {
  const account = await givenAccount()
  for (let number = 2; number <= 40; number++) await givenSession(account)
  const { tally } = await inParallel(30, async () => await login(account.email))
  t.strictSame(tally, { 200: 30 })
  t.equal((await activeSessionsOf(account.id)).length, 50)
  const ended = (await endedEvents(account.id)).flat()
  t.equal(ended.length, 20)
  t.equal(new Set(ended).size, 20)
})
