import { sql } from 'kysely'
import { bearer } from '@tandem/http-kit/testing'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, testApp } from '../test/app.ts'

const { app, db, post, get, givenAccount, givenSession, canRefresh, publishedEvents } = await testApp(t)

const refresh = async (refreshToken: unknown) => await post('/auth/refresh', { refreshToken })
const sessionsOf = async (account: { accessToken: string }) =>
  (await get('/auth/sessions', { as: account })).data.sessions.map(({ id }: { id: string }) => id)

t.test('sessions are listed with all fields, last used first', async (t) => {
  const account = await givenAccount()
  const phone = await givenSession(account, {
    address: '2001:db8:1:2::3',
    device: { deviceName: 'Phone', deviceInfo: 'Pixel', platform: 'android', appVersion: '1' }
  })
  await givenAccount()
  const { status, success, data } = await get('/auth/sessions', { as: account })
  t.strictSame({ status, success, total: data.totalSessions, length: data.sessions.length }, {
    status: 200,
    success: true,
    total: 2,
    length: 2
  })
  const [first, second] = data.sessions
  t.strictSame({ ...first, lastUsedAt: '', createdAt: '' }, {
    id: phone.sessionId,
    deviceInfo: 'Pixel',
    deviceName: 'Phone',
    platform: 'android',
    appVersion: '1',
    ipAddress: '2001:db8:*',
    isCurrent: false,
    lastUsedAt: '',
    createdAt: ''
  })
  t.match(second, {
    id: account.sessionId,
    deviceInfo: null,
    platform: null,
    ipAddress: '203.0.*.*',
    isCurrent: true,
    lastUsedAt: /Z$/,
    createdAt: /Z$/
  })

  await refresh(account.refreshToken)
  t.strictSame(await sessionsOf(account), [account.sessionId, phone.sessionId])
})

t.test('logout', async (t) => {
  const logout = async (account: { accessToken: string }, body: object = {}) =>
    await post('/auth/logout', body, { as: account })
  const done = { status: 200, success: true, message: 'Signed out' }

  t.test("with an empty body ends the caller's own session", async (t) => {
    const account = await givenAccount()
    const other = await givenSession(account)
    t.strictSame(await logout(account), done)
    t.strictSame(await sessionsOf(other), [other.sessionId])
    t.notOk(await canRefresh(account))
    t.ok(await canRefresh(other))
    t.strictSame((await publishedEvents(account.id)).at(-1), {
      type: 'sessions.ended',
      accountId: account.id,
      sessionIds: [account.sessionId]
    })
    t.match(await logout(account), { status: 401, code: 'INVALID_ACCESS_TOKEN' }, 'a repeat changes nothing')
    t.equal((await publishedEvents(account.id)).filter(({ type }) => type === 'sessions.ended').length, 1)
  })

  t.test('with a refresh token ends its session, also with an earlier token of the session', async (t) => {
    const account = await givenAccount()
    const [one, two] = [await givenSession(account), await givenSession(account)]
    t.strictSame(await logout(account, { refreshToken: one.refreshToken }), done)
    await refresh(two.refreshToken)
    t.strictSame(await logout(account, { refreshToken: two.refreshToken, allDevices: false }), done)
    t.strictSame(await sessionsOf(account), [account.sessionId])
  })

  t.test('with the refresh token of another account ends nothing and has the same response', async (t) => {
    const [ana, ben] = [await givenAccount(), await givenAccount()]
    t.strictSame(await logout(ana, { refreshToken: ben.refreshToken }), done)
    t.ok(await canRefresh(ana))
    t.ok(await canRefresh(ben))
  })

  t.test("with an empty refresh token ends the caller's session", async (t) => {
    const account = await givenAccount()
    const other = await givenSession(account)
    t.strictSame(await logout(account, { refreshToken: '' }), done)
    t.notOk(await canRefresh(account))
    t.ok(await canRefresh(other))
  })

  t.test('on all devices ends every session of the account and no other', async (t) => {
    const [ana, ben] = [await givenAccount(), await givenAccount()]
    const other = await givenSession(ana)
    t.strictSame(await logout(ana, { allDevices: true, refreshToken: ben.refreshToken }), done)
    t.notOk(await canRefresh(ana))
    t.notOk(await canRefresh(other))
    t.ok(await canRefresh(ben))
    t.match((await publishedEvents(ana.id)).at(-1), { sessionIds: { length: 2 } })
  })

  t.test('requires an access token', async (t) => {
    t.match(await post('/auth/logout'), { status: 401, code: 'UNAUTHORIZED' })
    t.match(await post('/auth/logout', {}, { headers: { authorization: 'Bearer x.y.z' } }), {
      status: 401,
      code: 'INVALID_ACCESS_TOKEN'
    })
    t.match(await post('/auth/logout', { allDevices: 'yes' }, { as: await givenAccount() }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
  })

  t.test('and a concurrent refresh do not deadlock', async (t) => {
    for (let round = 0; round < 10; round++) {
      const account = await givenAccount()
      const { results: [refreshed, ...ended] } = await inParallel(
        4,
        async (index) =>
          index === 0 ? await refresh(account.refreshToken) : await logout(account, { allDevices: index === 2 })
      )
      t.ok([200, 401].includes(refreshed!.status), String(refreshed!.status))
      // Only the first one still has a session.
      t.same(ended.map(({ status }) => String(status)).toSorted(), ['200', '401', '401'])
      if ('refreshToken' in refreshed!) {
        t.notOk(await canRefresh(refreshed as { refreshToken: string }), 'the refreshed token is invalid too')
      }
    }
  })
})

t.test('revoking', async (t) => {
  const revoke = async (account: { accessToken: string }, body: object) =>
    await post('/auth/sessions', body, { as: account })

  t.test('one session ends it, once', async (t) => {
    const account = await givenAccount()
    const other = await givenSession(account)
    t.strictSame(await revoke(account, { action: 'revoke_session', sessionId: other.sessionId }), {
      status: 200,
      success: true,
      message: 'The device was signed out'
    })
    t.notOk(await canRefresh(other))
    t.ok(await canRefresh(account))
    t.match(await revoke(account, { action: 'revoke_session', sessionId: other.sessionId }), {
      status: 404,
      success: false,
      code: 'NOT_FOUND'
    })
  })

  t.test('the session of another account, or an unknown one, is 404', async (t) => {
    const [ana, ben] = [await givenAccount(), await givenAccount()]
    for (const sessionId of [ben.sessionId, crypto.randomUUID(), 'nonsense']) {
      t.match(await revoke(ana, { action: 'revoke_session', sessionId }), { status: 404, code: 'NOT_FOUND' })
    }
    t.ok(await canRefresh(ben))
  })

  t.test('all keeps the session of the given refresh token', async (t) => {
    const account = await givenAccount()
    const [kept, other] = [await givenSession(account), await givenSession(account)]
    t.strictSame(await revoke(account, { action: 'revoke_all', exceptCurrentRefreshToken: kept.refreshToken }), {
      status: 200,
      success: true,
      message: 'The other devices were signed out'
    })
    t.ok(await canRefresh(kept))
    t.notOk(await canRefresh(account))
    t.notOk(await canRefresh(other))
  })

  t.test("all without a token keeps the caller's session", async (t) => {
    const account = await givenAccount()
    const other = await givenSession(account)
    t.match(await revoke(account, { action: 'revoke_all' }), { status: 200 })
    t.ok(await canRefresh(account))
    t.notOk(await canRefresh(other))
  })

  t.test("all with a token of another account keeps the caller's session", async (t) => {
    for (const token of [(await givenAccount()).refreshToken, 'garbage', '', 'x'.repeat(3_000)]) {
      const [ana, ben] = [await givenAccount(), await givenAccount()]
      const other = await givenSession(ana)
      t.match(await revoke(ana, { action: 'revoke_all', exceptCurrentRefreshToken: token }), { status: 200 })
      t.ok(await canRefresh(ana))
      t.notOk(await canRefresh(other))
      t.ok(await canRefresh(ben))
    }
  })

  t.test('requires a valid action and its fields', async (t) => {
    const account = await givenAccount()
    for (
      const body of [{}, { action: 'revoke' }, { action: 'revoke_session' }, {
        action: 'revoke_session',
        sessionId: ' '
      }, { action: 'revoke_all', exceptCurrentRefreshToken: 5 }]
    ) {
      t.match(await revoke(account, body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body))
    }
  })

  t.test('and listing reject every invalid token with UNAUTHORIZED', async (t) => {
    for (
      const headers of [
        {},
        { authorization: 'Bearer x.y.z' },
        { authorization: 'Basic YTpi' },
        bearer(crypto.randomUUID())
      ] as Record<string, string>[]
    ) {
      t.match(await get('/auth/sessions', { headers }), { status: 401, success: false, code: 'UNAUTHORIZED' })
      t.match(await post('/auth/sessions', {}, { headers }), { status: 401, success: false, code: 'UNAUTHORIZED' })
    }
  })
})

t.test('gateways can poll for ended sessions', async (t) => {
  const endedSince = async (since: Date) =>
    (await app.inject(`/internal/revoked-sessions?since=${since.toISOString()}`)).json()
  const begin = new Date(Date.now() - 60_000)
  const account = await givenAccount()
  t.notOk((await endedSince(begin)).sessions.includes(account.sessionId))
  await post('/auth/logout', {}, { as: account })
  const { sessions, until } = await endedSince(begin)
  t.ok(sessions.includes(account.sessionId))
  t.ok(Date.parse(until) < Date.now() - 9_000, 'the next poll overlaps with transactions that are still running')
  t.ok((await endedSince(new Date(until))).sessions.includes(account.sessionId))
  t.notOk((await endedSince(new Date(Date.now() + 1_000))).sessions.includes(account.sessionId))

  await sql`update sessions set ended_at = now() - interval '21 minutes' where id = ${account.sessionId}`.execute(db)
  t.notOk((await endedSince(new Date(0))).sessions.includes(account.sessionId), 'its access tokens have expired')
  t.match((await app.inject('/internal/revoked-sessions')).json(), { code: 'VALIDATION_ERROR' })
})

t.test('sessions end after 30 days without use or after 180 days, and are deleted then', async (t) => {
  const [idle, live, old, oldest] = [
    await givenAccount(),
    await givenAccount(),
    await givenAccount(),
    await givenAccount()
  ]
  const createdAgo = async ({ sessionId }: { sessionId: string }, age: string) => {
    await db.deleteFrom('refresh_tokens').where('session_id', '=', sessionId).execute()
    const { rows } = await sql<{ id: string }>`
      update sessions set id = uuidv7(-${age}::interval) where id = ${sessionId} returning id`.execute(db)
    return rows[0]!.id
  }
  await sql`update sessions set last_used_at = now() - interval '30 days 1 minute' where id = ${idle.sessionId}`
    .execute(db)
  await createdAgo(live, '179 days')
  const oldId = await createdAgo(old, '180 days 1 minute')
  const oldestId = await createdAgo(oldest, '182 days')
  await runHousekeeping(db)
  t.match((await publishedEvents(idle.id)).at(-1), { type: 'sessions.ended', sessionIds: [idle.sessionId] })
  t.match((await publishedEvents(live.id)).at(-1), { type: 'session.started' })
  t.match((await publishedEvents(old.id)).at(-1), { type: 'sessions.ended', sessionIds: [oldId] })
  t.match((await publishedEvents(oldest.id)).at(-1), { type: 'sessions.ended', sessionIds: [oldestId] })
  const countOf = async ({ id }: { id: string }) =>
    (await db.selectFrom('sessions').where('account_id', '=', id).select('id').execute()).length
  t.same([await countOf(old), await countOf(oldest)], [1, 0])
})
