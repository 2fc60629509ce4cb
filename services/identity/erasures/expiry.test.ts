import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { seededRandom } from '@tandem/test-kit'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, password, testApp, randomEmail } from '../test/app.ts'
import { holdErasure } from '../operator/erasures.ts'
import { scheduleErasure } from './actions.ts'
import { expireUnverifiedAccounts } from './expiry.ts'
import { handleContact, handleMembership } from '../accounts/rpc.ts'

const { db, deps, get, post, givenAccount, login, codeMailedTo, canRefresh, publishedEvents } = await testApp(t)

const registeredAgo = async (id: string, age: string) => {
  await sql`update accounts set created_at = now() - ${age}::interval where id = ${id}`.execute(db)
  await sql`update codes set expires_at = now() - ${age}::interval + interval '24 hours' where account_id = ${id}`
    .execute(db)
}
const check = async (email: string) => await post('/auth/check-email', { email })
const register = async (email: string) => await post('/auth/register', { email, password })
const verify = async (userId: string, code: string) => await post('/auth/verify-email', { userId, code })

t.test('an address that nobody verifies for 72 hours is released', async (t) => {
  const email = randomEmail()
  const { user: { id: userId }, ...tokens } = await register(email)
  const code = await codeMailedTo(email)
  await registeredAgo(userId, '71 hours 59 minutes')
  await runHousekeeping(db)
  t.match(await check(email), { exists: true, userId }, 'but not before')

  await registeredAgo(userId, '72 hours 1 second')
  await runHousekeeping(db)
  t.strictSame(await check(email), {
    status: 200,
    success: true,
    exists: false,
    method: 'register',
    hasProviderA: false,
    hasProviderB: false
  })
  t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await post('/auth/refresh', { refreshToken: tokens.refreshToken }), {
    status: 401,
    success: false,
    code: 'REFRESH_FAILED'
  })
  t.match(await get('/auth/me', { as: tokens }), { status: 404, code: 'USER_NOT_FOUND' })
  t.match(await post('/auth/set-initial-password', { password }, { as: tokens }), {
    status: 404,
    code: 'USER_NOT_FOUND'
  })
  t.match(await get('/auth/sessions', { as: tokens }), { data: { totalSessions: 0 } })
  t.match(await verify(userId, code), { status: 404, code: 'USER_NOT_FOUND' })
  t.match((await publishedEvents(userId)).slice(2), [{ type: 'person.hidden', hidden: true }, {
    type: 'sessions.ended',
    sessionIds: { length: 1 }
  }])
  t.equal(await handleContact(deps).handle({ accountId: userId }), null)
  t.match(
    await handleMembership(deps).handle({ accountId: userId }),
    { number: Number },
    'the numbers of later members do not change'
  )
  t.notMatch(
    JSON.stringify(await db.selectFrom('accounts').where('id', '=', userId).selectAll().execute()),
    email.split('@')[0],
    'the address is not stored any more'
  )

  const again = await register(email)
  t.match(again, { status: 201, user: { email, emailVerified: false } })
  t.not(again.user.id, userId)
  t.ok(await canRefresh(again))
  await runHousekeeping(db)
  t.match(await check(email), { exists: true, userId: again.user.id })
})

t.test('a verified account, a banned account and one with a valid code do not expire', async (t) => {
  const [verified, banned, unverified] = [
    await givenAccount(),
    await givenAccount({ verified: false }),
    await givenAccount({ verified: false })
  ]
  for (const { id } of [verified, banned, unverified]) await registeredAgo(id, '1 year')
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', banned.id).execute()
  await post('/auth/resend-verification', { email: unverified.email })
  const code = await codeMailedTo(unverified.email)

  await runHousekeeping(db)
  for (const { email } of [verified, banned, unverified]) t.match(await check(email), { exists: true })
  t.match(await verify(unverified.id, code), { status: 200, isNewUser: true })
  await runHousekeeping(db)
  t.ok(await canRefresh(unverified))
})

t.test('an address whose deletion is pending is released too, unless the deletion is held or has begun', async (t) => {
  const givenLeaving = async () => {
    const account = await givenAccount({ verified: false })
    await registeredAgo(account.id, '72 hours 1 second')
    const erasure = await db.transaction().execute(async (trx) =>
      await scheduleErasure(trx, account, { cause: 'OWNER', graceDays: 14 })
    )
    return { ...account, erasureId: erasure.id }
  }
  const erasuresOf = async (id: string) =>
    await db.selectFrom('erasures').where('account_id', '=', id).select(['cause', 'status', 'erase_at']).execute()
  const [leaving, held, begun] = [await givenLeaving(), await givenLeaving(), await givenLeaving()]
  await holdErasure(db, held.erasureId, { reason: 'a court', days: 30 })
  await sql`update erasures set begun_at = now() where id = ${begun.erasureId}`.execute(db)

  await runHousekeeping(db)
  t.match(await check(leaving.email), { exists: false })
  const [erasure, ...others] = await erasuresOf(leaving.id)
  t.match(erasure, { cause: 'EXPIRY', status: 'SCHEDULED' })
  t.ok(erasure!.erase_at.getTime() <= Date.now() + 20 * 60_000, 'without the rest of the grace period')
  t.same(others, [])
  t.match(await register(leaving.email), { status: 201 })
  for (const { id, email } of [held, begun]) {
    t.match(await check(email), { exists: true, userId: id })
    t.match(await erasuresOf(id), [{ cause: 'OWNER' }])
  }
})

t.test('a verification at the moment the code expires succeeds or fails completely', async (t) => {
  const random = seededRandom(t)
  const seen = { verified: 0, expired: 0 }
  let validForMs = 10
  for (let round = 0; round < 100 && (seen.verified === 0 || seen.expired === 0); round++) {
    const email = randomEmail()
    const { user: { id: userId }, ...tokens } = await register(email)
    const code = await codeMailedTo(email)
    await registeredAgo(userId, '73 hours')
    await sql`update codes set expires_at = clock_timestamp() + ${`${validForMs} milliseconds`}::interval
      where account_id = ${userId}`.execute(db)
    const soon = async () => await sleep(random() * 2 * validForMs)
    const [response] = await Promise.all([
      soon().then(async () => await verify(userId, code)),
      soon().then(async () => await expireUnverifiedAccounts(db)),
      soon().then(async () => await expireUnverifiedAccounts(db))
    ])

    const verified = response.status === 200
    if (!verified) t.match(response.code, /^(INVALID_CODE|USER_NOT_FOUND)$/)
    await expireUnverifiedAccounts(db)
    t.equal((await check(email)).exists, verified)
    t.equal((await publishedEvents(userId)).some(({ type }) => type === 'account.verified'), verified)
    t.equal(await canRefresh(tokens), verified)
    seen[verified ? 'verified' : 'expired']++
    // A busy machine needs longer for a request.
    validForMs *= verified ? 0.8 : 1.25
  }
  t.ok(seen.verified > 0 && seen.expired > 0, `${seen.verified} in time, ${seen.expired} too late`)
})

t.test('of concurrent registrations one gets the released address', async (t) => {
  const email = randomEmail()
  const { user: { id: userId } } = await register(email)
  await registeredAgo(userId, '73 hours')
  const attempts = inParallel(6, async () => await register(email))
  await Promise.all([expireUnverifiedAccounts(db), expireUnverifiedAccounts(db), attempts])
  const { tally } = await attempts
  t.ok((tally['201'] ?? 0) <= 1 && (tally['201'] ?? 0) + (tally['409 EMAIL_EXISTS'] ?? 0) === 6, JSON.stringify(tally))
  t.match(await register(email), tally['201'] ? { status: 409, code: 'EMAIL_EXISTS' } : { status: 201 })
  t.equal(
    (await publishedEvents(userId)).filter(({ type }) => type === 'sessions.ended').length,
    1,
    'two processes expire it once'
  )
})
