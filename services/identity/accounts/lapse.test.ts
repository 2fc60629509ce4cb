import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, password, testApp, someEmail } from '../test/app.ts'
import { expireUnverified } from './actions.ts'
import { answerContact, answerMembership } from './rpc.ts'

const { db, deps, get, post, givenAccount, login, codeMailedTo, canRefresh, publishedEvents } = await testApp(t)

const registeredAgo = async (id: string, age: string) => {
  await sql`update accounts set created_at = now() - ${age}::interval where id = ${id}`.execute(db)
  await sql`update codes set expires_at = now() - ${age}::interval + interval '24 hours' where account_id = ${id}`.execute(db)
}
const check = async (email: string) => await post('/auth/check-email', { email })
const register = async (email: string) => await post('/auth/register', { email, password })
const verify = async (userId: string, code: string) => await post('/auth/verify-email', { userId, code })

t.test('an address that nobody verifies for 72 hours is free again', async (t) => {
  const email = someEmail()
  const { user: { id: userId }, ...tokens } = await register(email)
  const code = await codeMailedTo(email)
  await registeredAgo(userId, '71 hours 59 minutes')
  await runHousekeeping(db)
  t.match(await check(email), { exists: true, userId }, 'but not before')

  await registeredAgo(userId, '72 hours 1 second')
  await runHousekeeping(db)
  t.strictSame(await check(email), { status: 200, success: true, exists: false, method: 'register', hasProviderA: false, hasProviderB: false })
  t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await post('/auth/refresh', { refreshToken: tokens.refreshToken }), { status: 401, success: false, code: 'REFRESH_FAILED' })
  t.match(await get('/auth/me', { as: tokens }), { status: 404, code: 'USER_NOT_FOUND' })
  t.match(await post('/auth/set-initial-password', { password }, { as: tokens }), { status: 404, code: 'USER_NOT_FOUND' })
  t.match(await get('/auth/sessions', { as: tokens }), { data: { totalSessions: 0 } })
  t.match(await verify(userId, code), { status: 404, code: 'USER_NOT_FOUND' })
  t.match((await publishedEvents(userId)).slice(2), [{ type: 'sessions.ended', sessionIds: { length: 1 } }])
  t.equal(await answerContact(deps).handle({ accountId: userId }), null)
  t.match(await answerMembership(deps).handle({ accountId: userId }), { number: Number }, 'though whoever came later keeps his number')
  t.notMatch(JSON.stringify(await db.selectFrom('accounts').where('id', '=', userId).selectAll().execute()), email.split('@')[0], 'the address is kept nowhere')

  const again = await register(email)
  t.match(again, { status: 201, user: { email, emailVerified: false } })
  t.not(again.user.id, userId)
  t.ok(await canRefresh(again))
  await runHousekeeping(db)
  t.match(await check(email), { exists: true, userId: again.user.id })
})

t.test('who has verified his, or is kept out, or may still type a code, is left alone', async (t) => {
  const [verified, barred, unverified] = [await givenAccount(), await givenAccount({ verified: false }), await givenAccount({ verified: false })]
  for (const { id } of [verified, barred, unverified]) await registeredAgo(id, '1 year')
  await db.updateTable('accounts').set({ barred_at: new Date() }).where('id', '=', barred.id).execute()
  await post('/auth/resend-verification', { email: unverified.email })
  const code = await codeMailedTo(unverified.email)

  await runHousekeeping(db)
  for (const { email } of [verified, barred, unverified]) t.match(await check(email), { exists: true })
  t.match(await verify(unverified.id, code), { status: 200, isNewUser: true })
  await runHousekeeping(db)
  t.ok(await canRefresh(unverified))
})

t.test('verifying at the moment when the code runs out comes in time or too late, and never half', async (t) => {
  const seen = { verified: 0, lapsed: 0 }
  for (let round = 0; round < 100 && (seen.verified === 0 || seen.lapsed === 0); round++) {
    const email = someEmail()
    const { user: { id: userId }, ...tokens } = await register(email)
    const code = await codeMailedTo(email)
    await registeredAgo(userId, '73 hours')
    await sql`update codes set expires_at = clock_timestamp() + interval '10 milliseconds' where account_id = ${userId}`.execute(db)
    const soon = async () => await sleep(Math.random() * 20)
    const [answer] = await Promise.all([soon().then(async () => await verify(userId, code)), soon().then(async () => await expireUnverified(db)), soon().then(async () => await expireUnverified(db))])

    const verified = answer.status === 200
    if (!verified) t.match(answer.code, /^(INVALID_CODE|USER_NOT_FOUND)$/)
    await expireUnverified(db)
    t.equal((await check(email)).exists, verified)
    t.equal((await publishedEvents(userId)).some(({ type }) => type === 'account.verified'), verified)
    t.equal(await canRefresh(tokens), verified)
    seen[verified ? 'verified' : 'lapsed']++
  }
  t.ok(seen.verified > 0 && seen.lapsed > 0, `${seen.verified} in time, ${seen.lapsed} too late`)
})

t.test('of whoever registers at the same moment one gets the address, once it is free', async (t) => {
  const email = someEmail()
  const { user: { id: userId } } = await register(email)
  await registeredAgo(userId, '73 hours')
  const attempts = inParallel(6, async () => await register(email))
  await Promise.all([expireUnverified(db), expireUnverified(db), attempts])
  const { tally } = await attempts
  t.ok((tally['201'] ?? 0) <= 1 && (tally['201'] ?? 0) + (tally['409 EMAIL_EXISTS'] ?? 0) === 6, JSON.stringify(tally))
  t.match(await register(email), tally['201'] ? { status: 409, code: 'EMAIL_EXISTS' } : { status: 201 })
  t.equal((await publishedEvents(userId)).filter(({ type }) => type === 'sessions.ended').length, 1, 'and two processes end it once')
})
