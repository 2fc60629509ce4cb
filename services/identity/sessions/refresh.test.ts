import { sql } from 'kysely'
import { signToken } from '@tandem/http-kit/testing'
import t from 'tap'
import { as, inParallel, testApp } from '../test/app.ts'

const { db, post, get, givenAccount, canRefresh, publishedEvents } = await testApp(t)

const refresh = async (refreshToken: unknown) => await post('/auth/refresh', { refreshToken })
const used = async (secondsAgo: number, sessionId: string) =>
  await sql`update refresh_tokens set used_at = now() - make_interval(secs => ${secondsAgo}) where session_id = ${sessionId} and used_at is not null`
    .execute(db)
const sessionsOf = async (account: { accessToken: string }) =>
  (await get('/auth/sessions', { as: account })).data.sessions.map(({ id }: { id: string }) => id)

t.test('a refresh token can be exchanged once', async (t) => {
  const account = await givenAccount()
  const response = await refresh(account.refreshToken)
  t.match(response, { accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/, refreshToken: /^[\w-]{43}$/ })
  t.strictSame({ ...response, accessToken: '', refreshToken: '' }, {
    status: 200,
    success: true,
    accessToken: '',
    refreshToken: '',
    expiresIn: 900
  })
  t.strictSame(await sessionsOf(response), [account.sessionId], 'the session stays the same')
  t.match(await refresh(account.refreshToken), {
    status: 401,
    success: false,
    code: 'INVALID_REFRESH_TOKEN',
    error: String
  })
  t.ok(await canRefresh(response), 'the new token stays valid')
})

t.test('of 20 concurrent refreshes one succeeds, and its token works', async (t) => {
  const account = await givenAccount()
  const { tally, results } = await inParallel(20, async () => await refresh(account.refreshToken))
  t.strictSame(tally, { 200: 1, '401 INVALID_REFRESH_TOKEN': 19 })
  const winner = results.find(({ status }) => status === 200) as unknown as {
    accessToken: string,
    refreshToken: string
  }
  t.match(await get('/auth/sessions', { as: winner }), { status: 200 })
  t.ok(await canRefresh(winner))
})

t.test('a used token is rejected within ten seconds, and ends the session later', async (t) => {
  const account = await givenAccount()
  const next = await refresh(account.refreshToken)
  await used(9, account.sessionId)
  t.match(await refresh(account.refreshToken), { status: 401, code: 'INVALID_REFRESH_TOKEN' })
  t.strictSame(await sessionsOf(account), [account.sessionId])

  await used(11, account.sessionId)
  t.match(await refresh(account.refreshToken), { status: 401, code: 'INVALID_REFRESH_TOKEN' })
  t.strictSame(await sessionsOf(account), [])
  t.notOk(await canRefresh(next), 'the newest token is invalid too')
  t.match((await publishedEvents(account.id)).at(-1), { type: 'sessions.ended', sessionIds: [account.sessionId] })
})

t.test('invalid tokens are rejected', async (t) => {
  for (const nothing of [undefined, '', '  ', 42]) {
    t.match(await refresh(nothing), { status: 400, code: 'VALIDATION_ERROR' })
  }
  const account = await givenAccount()
  for (const other of ['nonsense', account.accessToken, account.refreshToken.toLowerCase(), 'x'.repeat(3_000)]) {
    t.match(await refresh(other), { status: 401, code: 'INVALID_REFRESH_TOKEN' })
  }
  t.match(await get('/auth/sessions', { headers: { authorization: `Bearer ${account.refreshToken}` } }), {
    status: 401,
    code: 'UNAUTHORIZED'
  })
})

t.test('a refresh token lives for 30 days, a session for 180', async (t) => {
  const idle = await givenAccount()
  const { expires_at: expires } = await db.selectFrom('refresh_tokens').where('session_id', '=', idle.sessionId).select(
    'expires_at'
  ).executeTakeFirstOrThrow()
  t.ok(Math.abs(expires.getTime() - Date.now() - 30 * 86_400_000) < 60_000)
  await db.updateTable('refresh_tokens').set({ expires_at: new Date() }).where('session_id', '=', idle.sessionId)
    .execute()
  t.match(await refresh(idle.refreshToken), { status: 401, code: 'INVALID_REFRESH_TOKEN' })

  const old = await givenAccount()
  await sql`update sessions set created_at = now() - interval '181 days' where id = ${old.sessionId}`.execute(db)
  t.match(await refresh(old.refreshToken), { status: 401, code: 'INVALID_REFRESH_TOKEN' })
  t.strictSame(await sessionsOf(old), [])
})

t.test('a banned account cannot refresh', async (t) => {
  const account = await givenAccount()
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', account.id).execute()
  t.match(await refresh(account.refreshToken), { status: 401, success: false, code: 'REFRESH_FAILED', error: String })
})

t.test('the access token names account and session, and expires in 15 minutes', async (t) => {
  const { id, sessionId, accessToken } = await givenAccount()
  const [header, claims] = accessToken.split('.').slice(0, 2).map((part) =>
    JSON.parse(Buffer.from(part, 'base64url').toString())
  )
  t.strictSame(Object.keys(header).sort(), ['alg', 'kid', 'typ'])
  t.match(header, { alg: 'ES256', typ: 'at+jwt', kid: String })
  t.strictSame(claims, {
    sub: id,
    sid: sessionId,
    role: 'USER',
    iss: 'tandem',
    aud: 'tandem',
    iat: claims.iat,
    exp: claims.iat + 900
  })
  t.match(await get('/auth/sessions', { headers: { authorization: `Bearer ${signToken(claims, header)}` } }), {
    status: 401
  }, 'a token with another signature is rejected')
  t.match(await get('/auth/sessions', { headers: as({ accessToken }) }), { status: 200 })
})
