import { execFile } from 'node:child_process'
import path from 'node:path'
import t from 'tap'
import { keepHouse } from '../housekeeping.ts'
import { secret, testApp } from '../testing.ts'
import { grantSubscription, setRole, takeSubscription, unbar } from './actions.ts'

const { app, db, url, post, login, givenAccount, givenSession, canRefresh, said } = await testApp(t)

/** Runs a command as an operator would. */
async function operate (...args: string[]) {
  return await new Promise<{ code: number, out: string, error: string }>((resolve) => {
    execFile(process.execPath, [path.join(import.meta.dirname, 'cli.ts'), ...args], { env: { ...process.env, DATABASE_URL: url, SECRET: secret } }, (failure, out, error) => {
      resolve({ code: failure ? Number(failure.code) : 0, out: out.trim(), error: error.trim() })
    })
  })
}
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

t.test('a role is in every token from the next sign-in on', async (t) => {
  const account = await givenAccount()
  t.match(await operate('grant', 'role', account.email.toUpperCase(), 'ADMIN'), { code: 0, out: /is ADMIN from the next sign-in on/ })
  t.notOk(await canRefresh(account))
  const { user, accessToken } = await login(account.email)
  t.equal(user.role, 'ADMIN')
  t.equal(claimsOf(accessToken).role, 'ADMIN')
  await setRole(db, account.email, 'USER')
  t.equal((await login(account.email)).user.role, 'USER')
})

t.test('a subscription is granted, renewed, taken, and runs out', async (t) => {
  const { id, email } = await givenAccount()
  const subscription = async () => await db.selectFrom('subscriptions').where('account_id', '=', id).select(['id', 'plan_id', 'status', 'current_period_end']).executeTakeFirst()
  const news = async () => (await said(id)).filter(({ type }) => type === 'subscription.changed').map(({ planId, status }) => [planId, status])

  t.notOk(await takeSubscription(db, email))
  t.match(await operate('grant', 'subscription', email, 'premium', '30'), { code: 0, out: /has premium for 30 days/ })
  const first = await subscription()
  t.match(first, { plan_id: 'premium', status: 'ACTIVE' })
  t.ok(Math.abs(first!.current_period_end.getTime() - Date.now() - 30 * 86_400_000) < 60_000)
  await grantSubscription(db, email, { planId: 'gold', days: 60 })
  t.match(await subscription(), { id: first!.id, plan_id: 'gold', status: 'ACTIVE' })
  t.match(await operate('take', 'subscription', email), { code: 0, out: /has no subscription any more/ })
  t.match(await subscription(), { status: 'CANCELED' })

  await grantSubscription(db, email, { planId: 'gold', days: 1 })
  await keepHouse(db)
  t.match(await subscription(), { status: 'ACTIVE' })
  await db.updateTable('subscriptions').set({ current_period_end: new Date(Date.now() - 1) }).where('account_id', '=', id).execute()
  await Promise.all([keepHouse(db), keepHouse(db)])
  t.match(await subscription(), { status: 'EXPIRED' })
  t.strictSame(await news(), [['premium', 'ACTIVE'], ['gold', 'ACTIVE'], ['gold', 'CANCELED'], ['gold', 'ACTIVE'], ['gold', 'EXPIRED']])
})

t.test('sessions are listed and ended', async (t) => {
  const account = await givenAccount()
  await givenSession(account, { device: { deviceName: 'Phone' } })
  t.match(await operate('sessions', 'list', account.email), { code: 0, out: /Phone/ })
  t.match(await operate('sessions', 'end', account.email), { code: 0, out: '2 sessions ended' })
  t.notOk(await canRefresh(account))
})

t.test('whoever is barred is out until he is let in again', async (t) => {
  const account = await givenAccount()
  t.match(await operate('bar', account.email), { code: 0, out: /is kept out/ })
  t.match(await post('/auth/refresh', { refreshToken: account.refreshToken }), { status: 401, code: 'REFRESH_FAILED' })
  t.match(await login(account.email), { status: 401, code: 'INVALID_CREDENTIALS' })
  await unbar(db, account.email)
  t.match(await login(account.email), { status: 200 })
})

t.test('keys are rotated, and replaced', async (t) => {
  const keys = async () => (await app.inject('/.well-known/jwks.json')).json().keys.length
  t.match(await operate('keys', 'rotate'), { code: 0, out: 'a new key signs in 15 minutes' })
  t.equal(await keys(), 2)
  t.match(await operate('keys', 'replace'), { code: 0, out: /a new key signs; restart/ })
  t.equal(await keys(), 2, 'one that has not signed yet is dropped')
})

t.test('reports are listed', async (t) => {
  await post('/auth/report-issue', { email: 'ana@example.com', description: 'The code never arrives.' })
  t.match(await operate('issues', 'list'), { code: 0, out: /The code never arrives\./ })
})

t.test('what cannot be done is said in a line', async (t) => {
  t.strictSame(await operate('bar', 'nobody@example.com'), { code: 1, out: '', error: 'There is no such user' })
  const misuses = [[], ['grant', 'role', 'a@b.co', 'KING'], ['grant', 'subscription', 'a@b.co', 'gold', '0'], ['bar']]
  for (const { code, error } of await Promise.all(misuses.map(async (args) => await operate(...args)))) {
    t.equal(code, 1)
    t.match(error, /^usage: pnpm --filter @tandem\/identity <command>/)
  }
})
