import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { OperatorActed } from '@tandem/contracts'
import { registry } from '@tandem/process-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { runCommand } from '../operator/commands.ts'
import { as, inParallel, password, secret, randomEmail, testApp } from '../test/app.ts'

const { app, db, handlers, post, login, givenAccount, givenSession, linkMailedTo, codeMailedTo, mailsTo } =
  await testApp(t, {
    providers: {
      PROVIDER_A: async (token) => token === 'good' ? { subject: 'sub-1', email: 'linked@example.com' } : undefined
    }
  })

const network = '203.0.113.0/24'
const another = 'Other-Open-5ky'
const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/
const uuidv7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

/** The log of an account, oldest first, without sign-ins by default. */
async function logOf (accountId: string | null, { signIns = false } = {}) {
  return await db.selectFrom('security_events').select([
    'id',
    'kind',
    'account_id',
    'session_id',
    'network',
    'request_id',
    'detail',
    'created_at'
  ])
    .where((eb) => accountId === null ? eb('account_id', 'is', null) : eb('account_id', '=', accountId))
    .$if(!signIns, (query) => query.where('kind', '!=', 'SIGN_IN'))
    .orderBy('created_at').orderBy('id')
    .execute()
}
const operate = async (...args: string[]) => await runCommand(db, { secret }, args)
const byOperator = { session_id: null, network: null, request_id: null }

t.test('a sign-in is logged with its account, session, network and request id', async (t) => {
  const { email, id } = await givenAccount()
  await db.deleteFrom('security_events').execute()
  const response = await app.inject({
    method: 'POST',
    url: '/auth/login',
    payload: { email, password },
    remoteAddress: '203.0.113.7'
  })
  const { sid } = JSON.parse(Buffer.from(response.json().accessToken.split('.')[1], 'base64url').toString())
  const [event, ...others] = await logOf(id, { signIns: true })
  t.strictSame(others, [])
  t.match(event, {
    id: uuidv7,
    kind: 'SIGN_IN',
    account_id: id,
    session_id: sid,
    network,
    request_id: response.headers['x-request-id'],
    detail: { method: 'PASSWORD' },
    created_at: Date
  })
})

t.test('every sign-in method is logged with its name', async (t) => {
  const email = randomEmail()
  const { user } = await post('/auth/register', { email, password })
  await post('/auth/verify-email', { userId: user.id, code: await codeMailedTo(email) })
  await post('/auth/request-code', { email })
  await mailsTo(email, 2)
  await post('/auth/login-code', { email, code: await codeMailedTo(email, 2) })
  t.strictSame((await logOf(user.id, { signIns: true })).map(({ kind, detail }) => [kind, detail]), [
    ['SIGN_IN', { method: 'REGISTRATION' }],
    ['SIGN_IN', { method: 'CODE' }]
  ])
  const linked = await post('/auth/provider-a', { idToken: 'good' })
  t.strictSame((await logOf(linked.user.id, { signIns: true })).map(({ kind, detail }) => [kind, detail]), [
    ['PROVIDER_LINKED', { provider: 'PROVIDER_A' }],
    ['SIGN_IN', { method: 'PROVIDER_A' }]
  ])
  await post('/auth/provider-a', { idToken: 'good' })
  t.equal((await logOf(linked.user.id)).length, 1, 'the link is logged once')
})

t.test('failed sign-ins are logged for known and unknown accounts, never with the typed text', async (t) => {
  await db.deleteFrom('security_events').execute()
  const account = await givenAccount()
  const unknown = randomEmail()
  t.match(await login(account.email, { password: 'Not-This-0ne' }), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await post('/auth/login-code', { email: account.email, code: '123456' }), {
    status: 400,
    code: 'INVALID_CODE'
  })
  t.match(
    await post('/auth/change-password', { currentPassword: 'Not-This-0ne', password: another }, { as: account }),
    { status: 400, code: 'INVALID_CURRENT_PASSWORD' }
  )
  t.match(await login(unknown, { password: 'Not-This-0ne' }), { status: 401 })
  t.match(await post('/auth/provider-a', { idToken: 'forged' }), { status: 401, code: 'INVALID_PROVIDER_A_TOKEN' })

  const failure = (method: string) => ({
    kind: 'SIGN_IN_FAILED',
    network,
    request_id: uuid,
    detail: { method, times: 1 }
  })
  t.match(await logOf(account.id), [
    { ...failure('PASSWORD'), session_id: null },
    { ...failure('CODE'), session_id: null },
    { ...failure('CHANGE_PASSWORD'), session_id: account.sessionId }
  ])
  t.match(await logOf(null), [failure('PASSWORD'), failure('PROVIDER_A')])
  const { rows } = await sql<{ row: string }>`select security_events::text as row from security_events`.execute(db)
  for (const typed of [account.email, unknown, 'Not-This-0ne', '123456', 'forged', '203.0.113.7']) {
    t.notOk(rows.some(({ row }) => row.includes(typed)), typed)
  }
})

t.test('guesses are counted in one row a minute', async (t) => {
  await db.deleteFrom('security_events').execute()
  const account = await givenAccount()
  const { tally } = await inParallel(
    10,
    async (index) => await login(index % 2 ? account.email : randomEmail(), { password: 'Not-This-0ne' })
  )
  t.strictSame(tally, { '401 INVALID_CREDENTIALS': 10 })
  const count = async (accountId: string | null) =>
    (await logOf(accountId)).map(({ detail }) => (detail as { times: number }).times)
  // The minute may change in between.
  for (const accountId of [account.id, null]) {
    const times = await count(accountId)
    t.ok(times.length <= 2)
    t.equal(times.reduce((one, other) => one + other, 0), 5)
  }
  await login(account.email, { password: 'Not-This-0ne' }, { from: '198.51.100.7' })
  t.match((await logOf(account.id)).at(-1), { network: '198.51.100.0/24', detail: { times: 1 } })
})

t.test('reuse of a refresh token is logged once', async (t) => {
  const account = await givenAccount()
  await post('/auth/refresh', { refreshToken: account.refreshToken })
  await sql`update refresh_tokens set used_at = now() - interval '11 seconds' where session_id = ${account.sessionId} and used_at is not null`
    .execute(db)
  await inParallel(5, async () => await post('/auth/refresh', { refreshToken: account.refreshToken }))
  t.match(await logOf(account.id), [{
    kind: 'REFRESH_REUSED',
    session_id: account.sessionId,
    network,
    request_id: uuid,
    detail: {}
  }])
  t.equal((await logOf(account.id)).length, 1)
})

t.test('every password change is logged with its kind', async (t) => {
  const [account, newcomer] = [await givenAccount(), await givenAccount({ hasPassword: false })]
  await post('/auth/set-initial-password', { password }, { as: newcomer })
  t.match(await logOf(newcomer.id), [{
    kind: 'PASSWORD_CHANGED',
    session_id: newcomer.sessionId,
    network,
    request_id: uuid,
    detail: { how: 'INITIAL' }
  }])
  await post('/auth/change-password', { currentPassword: password, password: another }, { as: account })
  await post('/auth/forgot-password', { email: account.email })
  const { token } = await linkMailedTo(account.email)
  await post('/auth/reset-password', { email: account.email, token, password })
  t.match(await logOf(account.id), [
    { kind: 'PASSWORD_CHANGED', session_id: account.sessionId, network, detail: { how: 'CHANGED' } },
    { kind: 'PASSWORD_CHANGED', session_id: null, network, detail: { how: 'RESET' } }
  ])
  t.equal((await logOf(account.id)).length, 2)
})

t.test('a cleared password is logged', async (t) => {
  const account = await givenAccount({ verified: false })
  await post('/auth/request-code', { email: account.email })
  await post('/auth/login-code', { email: account.email, code: await codeMailedTo(account.email) })
  t.match(await logOf(account.id), [{ kind: 'PASSWORD_CHANGED', detail: { how: 'CLEARED' } }])
})

t.test('revoked sessions are logged with their number, the actor and the session', async (t) => {
  const account = await givenAccount()
  const other = await givenSession(account)
  for (let more = 0; more < 2; more++) await givenSession(account)
  const revoked = (by: string, sessions: number) => ({ kind: 'SESSIONS_REVOKED', detail: { by, sessions } })
  const mine = { session_id: account.sessionId, network, request_id: uuid }
  await post('/auth/sessions', { action: 'revoke_session', sessionId: other.sessionId }, { as: account })
  await post('/auth/sessions', { action: 'revoke_session', sessionId: other.sessionId }, { as: account })
  await post('/auth/sessions', { action: 'revoke_all' }, { as: account })
  await post('/auth/logout', {}, { as: account })
  await givenSession(account)
  await operate('sessions', 'end', account.email)
  t.match(await logOf(account.id), [
    { ...revoked('OWNER', 1), ...mine },
    { ...revoked('OWNER', 2), ...mine },
    { ...revoked('OWNER', 1), ...mine },
    { ...revoked('OPERATOR', 1), ...byOperator }
  ])
  t.equal((await logOf(account.id)).length, 4)
})

t.test('operator commands are logged', async (t) => {
  const { id, email } = await givenAccount()
  await operate('grant', 'role', email, 'ADMIN')
  await operate('ban', email)
  await operate('unban', email)
  t.match(await logOf(id), [
    { kind: 'ROLE_CHANGED', ...byOperator, detail: { role: 'ADMIN' } },
    { kind: 'ACCOUNT_BANNED', ...byOperator },
    { kind: 'ACCOUNT_UNBANNED', ...byOperator }
  ])
})

t.test('an operator action in FitMatch is logged once, however often its event is delivered', async (t) => {
  const operator = await givenAccount()
  const act = { accountId: operator.id, sessionId: operator.sessionId, network, requestId: randomUUID() }
  const [selfie, report] = [randomUUID(), randomUUID()]
  const events = [
    { id: randomUUID(), at: new Date(Date.now() - 2_000), data: { ...act, action: 'SELFIE_READ', subjectId: selfie } },
    {
      id: randomUUID(),
      at: new Date(Date.now() - 1_000),
      data: { ...act, action: 'REPORT_SUSPEND', subjectId: report }
    },
    { id: randomUUID(), at: new Date(), data: { ...act, action: 'REPORTS_READ', subjectId: null } }
  ]
  for (const { data, ...event } of [...events, ...events.toReversed()]) {
    await deliver(handlers, OperatorActed.type, data, event)
  }
  const where = { session_id: operator.sessionId, network, request_id: act.requestId }
  t.match(await logOf(operator.id), [
    {
      id: events[0]?.id,
      kind: 'SELFIE_READ',
      ...where,
      detail: { action: 'SELFIE_READ', subjectId: selfie },
      created_at: events[0]?.at
    },
    { kind: 'OPERATOR_ACTED', ...where, detail: { action: 'REPORT_SUSPEND', subjectId: report } },
    { kind: 'OPERATOR_ACTED', ...where, detail: { action: 'REPORTS_READ', subjectId: null } }
  ])
  t.equal((await logOf(operator.id)).length, 3)
})

t.test('operators can read the log of an account, newest first', async (t) => {
  const account = await givenAccount()
  await post('/auth/logout', {}, { as: account })
  t.match(await operate('security', 'list', account.email.toUpperCase()), [
    {
      at: Date,
      kind: 'SESSIONS_REVOKED',
      network,
      sessionId: account.sessionId,
      requestId: uuid,
      detail: /"by": "OWNER"/
    },
    { kind: 'SIGN_IN' }
  ])
  await t.rejects(operate('security', 'list', randomEmail()), { message: 'USER_NOT_FOUND' })
})

t.test('events are kept for 90 days', async (t) => {
  const account = await givenAccount()
  await sql`update security_events set created_at = now() - interval '89 days 23 hours' where account_id = ${account.id}`
    .execute(db)
  await sql`insert into security_events (kind, created_at) select 'OLD', now() - interval '90 days 1 minute' from generate_series(1, 10001)`
    .execute(db)
  const countOld = async () =>
    (await db.selectFrom('security_events').where('kind', '=', 'OLD').select('id').execute()).length
  await Promise.all([runHousekeeping(db), runHousekeeping(db)])
  t.equal(await countOld(), 0)
  t.equal((await logOf(account.id, { signIns: true })).length, 1)
})

t.test('concurrent requests are logged with their own origin', async (t) => {
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const accounts = await Promise.all(Array.from({ length: 5 }, async () => await givenAccount()))
  const padding = 'x'.repeat(40_000)
  const ids = await Promise.all(accounts.map(async (account) => {
    const response = await fetch(`${url}/auth/logout`, {
      method: 'POST',
      headers: { ...as(account), 'content-type': 'application/json' },
      body: JSON.stringify({ allDevices: true, padding })
    })
    await response.text()
    return response.headers.get('x-request-id')
  }))
  for (const [index, account] of accounts.entries()) {
    t.match(await logOf(account.id), [{
      kind: 'SESSIONS_REVOKED',
      session_id: account.sessionId,
      network: '127.0.0.0/24',
      request_id: ids[index]
    }])
  }
})

t.test('events are counted by kind', async (t) => {
  const count = async (kind: string) =>
    (await registry.getSingleMetric('identity_security_events_total')?.get())?.values.find(({ labels }) =>
      labels.kind === kind
    )?.value ?? 0
  const before = [await count('SIGN_IN'), await count('SIGN_IN_FAILED')]
  const { email } = await givenAccount()
  await login(email, { password: 'Not-This-0ne' })
  await login(email, { password: 'Not-This-0ne' })
  t.strictSame([await count('SIGN_IN'), await count('SIGN_IN_FAILED')], [before[0]! + 1, before[1]! + 2])
})
