import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { appendAudit, findAuditFault } from '@tandem/operator-kit'
import { secret, testApp } from '../test/app.ts'
import { updateSubscriptions } from '../subscriptions/actions.ts'
import { storeAuditHead } from '../staff/audit-heads.ts'
import { UsageError } from '@tandem/operator-kit'
import { runCommand } from './commands.ts'

const { db, deps, url, get, post, login, givenAccount, givenSession, canRefresh, publishedEvents } = await testApp(t)

const operate = async (...args: string[]) =>
  await runCommand(db, { secret, ledger: deps.ledger, privateStorage: deps.privateStorage }, args)

/** Runs a command in the shell. */
async function run (...args: string[]) {
  return await new Promise<{ code: number, out: string, error: string }>((resolve) => {
    execFile(process.execPath, [path.join(import.meta.dirname, 'cli.ts'), ...args], {
      env: { ...process.env, DATABASE_URL: url, SECRET: secret }
    }, (failure, out, error) => {
      resolve({ code: failure ? Number(failure.code) : 0, out: out.trim(), error: error.trim() })
    })
  })
}
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

t.test('a role is in every token from the next sign-in', async (t) => {
  const account = await givenAccount()
  t.match(
    await operate('grant', 'role', account.email.toUpperCase(), 'ADMIN'),
    /has the role ADMIN from the next sign-in/
  )
  t.notOk(await canRefresh(account))
  const { user, accessToken } = await login(account.email)
  t.equal(user.role, 'ADMIN')
  t.equal(claimsOf(accessToken).role, 'ADMIN')
  await operate('grant', 'role', account.email, 'USER')
  t.equal((await login(account.email)).user.role, 'USER')
})

t.test('a subscription can be granted, replaced and canceled, and it expires', async (t) => {
  const { id, email } = await givenAccount()
  const subscription = async () =>
    await db.selectFrom('subscriptions').where('account_id', '=', id).select([
      'id',
      'plan_id',
      'status',
      'current_period_end'
    ]).executeTakeFirst()
  const changes = async () =>
    (await publishedEvents(id)).filter(({ type }) => type === 'subscription.changed').map((
      { planId, status }
    ) => [planId, status])

  t.match(await operate('cancel', 'subscription', email), /has no active subscription/)
  t.match(await operate('grant', 'subscription', email, 'premium', '30'), /has premium for 30 days/)
  const first = await subscription()
  t.match(first, { plan_id: 'premium', status: 'ACTIVE' })
  t.ok(Math.abs(first!.current_period_end.getTime() - Date.now() - 30 * 86_400_000) < 60_000)
  await operate('grant', 'subscription', email, 'gold', '60')
  t.match(await subscription(), { id: first!.id, plan_id: 'gold', status: 'ACTIVE' })
  t.match(await operate('cancel', 'subscription', email), /is canceled/)
  t.match(await subscription(), { status: 'CANCELED' })

  await operate('grant', 'subscription', email, 'gold', '1')
  await updateSubscriptions(deps)
  t.match(await subscription(), { status: 'ACTIVE' })
  const past = new Date(Date.now() - 1)
  await db.updateTable('grants').set({ ends_at: past }).where('account_id', '=', id).where('ended_at', 'is', null)
    .execute()
  await db.updateTable('subscriptions').set({ current_period_end: past }).where('account_id', '=', id).execute()
  await Promise.all([updateSubscriptions(deps), updateSubscriptions(deps)])
  t.match(await subscription(), { status: 'EXPIRED' })
  t.strictSame(await changes(), [['premium', 'ACTIVE'], ['gold', 'ACTIVE'], ['gold', 'CANCELED'], ['gold', 'ACTIVE'], [
    'gold',
    'EXPIRED'
  ]])
})

t.test('sessions are listed and ended', async (t) => {
  const account = await givenAccount()
  await givenSession(account, { device: { deviceName: 'Phone' } })
  t.match(await operate('sessions', 'list', account.email), [{ deviceName: 'Phone' }, {}])
  t.match(await operate('sessions', 'end', account.email), '2 sessions ended')
  t.notOk(await canRefresh(account))
})

t.test('a banned account cannot sign in until it is unbanned', async (t) => {
  const account = await givenAccount()
  t.match(await operate('ban', account.email), /is banned/)
  t.match(await post('/auth/refresh', { refreshToken: account.refreshToken }), { status: 401, code: 'REFRESH_FAILED' })
  t.match(await login(account.email), { status: 403, code: 'ACCOUNT_BANNED' })
  t.match(await operate('unban', account.email), /is no longer banned/)
  t.match(await operate('unban', account.email), /was not banned/)
  const unbanned = await db.selectFrom('security_events').where('account_id', '=', account.id)
    .where('kind', '=', 'ACCOUNT_UNBANNED').select('id').execute()
  t.equal(unbanned.length, 1)
  t.match(await login(account.email), { status: 200 })
})

t.test('keys can be rotated and replaced', async (t) => {
  const keys = async () => (await get('/.well-known/jwks.json')).keys.length
  t.match(await operate('keys', 'rotate'), 'The new key starts to sign in 15 minutes')
  t.equal(await keys(), 2)
  t.match(await operate('keys', 'replace'), /The new key signs now. Restart/)
  t.equal(await keys(), 2, 'a key that has not signed yet is deleted')
})

t.test('reports are listed', async (t) => {
  await post('/auth/report-issue', { email: 'ana@example.com', description: 'The code never arrives.' })
  t.match(await operate('issues', 'list'), [{ description: 'The code never arrives.' }])
})

t.test('invalid commands are rejected', async (t) => {
  await t.rejects(operate('ban', 'nobody@example.com'), { message: 'USER_NOT_FOUND' })
  await t.rejects(runCommand(db, {}, ['keys', 'rotate']), { message: 'SECRET is missing' })
  const invalidCommands = [
    [],
    ['grant'],
    ['grant', 'role', 'a@b.co', 'KING'],
    ['grant', 'role'],
    ['grant', 'subscription', 'a@b.co', 'gold', '0'],
    ['grant', 'subscription', 'a@b.co', 'gold', 'x'],
    ['sessions', 'end'],
    ['ban'],
    ['dance', 'now']
  ]
  for (const args of invalidCommands) await t.rejects(operate(...args), UsageError, args.join(' '))
})

t.test('the shell command prints the result or the error', async (t) => {
  const [{ email }, other] = [await givenAccount(), await givenAccount()]
  const [done, listed, rejected, invalid] = await Promise.all([
    run('grant', 'role', email, 'ADMIN'),
    run('sessions', 'list', other.email),
    run('ban', 'nobody@example.com'),
    run('dance')
  ])
  t.strictSame(done, { code: 0, out: `${email} has the role ADMIN from the next sign-in`, error: '' })
  t.match(listed, { code: 0, out: /deviceName/, error: '' })
  t.strictSame(rejected, { code: 1, out: '', error: 'There is no such user' })
  t.match(invalid, { code: 1, out: '', error: /^usage: npm run operator -- <command>/ })
})

t.test('a rewritten audit is found by the ends that were stored before, and the row is named', async (t) => {
  for (let turn = 0; turn < 4; turn++) {
    const entry = { action: `TEST ${turn}`, subject: null, accountId: null, reason: null, requestId: 'r-1' }
    await appendAudit(db, { operator: { id: randomUUID(), role: 'ADMIN' }, ...entry })
  }
  const head = await db.selectFrom('audit_head').select(['number', 'hash']).executeTakeFirstOrThrow()
  const stored = { number: head.number, hash: head.hash.toString('hex') }
  const store = storeAuditHead(deps.privateStorage)
  await store('2026-11-22', stored)
  await store('2026-11-22', { number: 1, hash: 'ff' })
  t.equal(await operate('staff', 'audit'), 'The audit is complete, and contains 1 stored ends')
  await t.rejects(sql`update audit_entries set action = 'x'`.execute(db), { message: /cannot be changed/ })

  // As the owner of the database: the entry before the last, and then every hash from there on.
  await sql`alter table audit_entries disable trigger user`.execute(db)
  t.teardown(async () => await sql`alter table audit_entries enable trigger user`.execute(db))
  const changed = stored.number - 1
  await sql`update audit_entries set action = 'NOTHING' where number = ${changed}`.execute(db)
  await t.rejects(operate('staff', 'audit'), { message: new RegExp(`entry ${changed} was changed`) })
  for (const number of [changed, changed + 1]) {
    await sql`
      update audit_entries set
        previous_hash = coalesce(before.hash, ''),
        hash = audit_hash(coalesce(before.hash, ''), audit_entries.number, staff_id, role, action, subject, account_id,
          reason, request_id, created_at)
      from (select hash from audit_entries where number = ${number - 1}) as before
      where audit_entries.number = ${number}`.execute(db)
  }
  await sql`update audit_head set hash = (select hash from audit_entries order by number desc limit 1)`.execute(db)
  t.equal(await findAuditFault(db), undefined, 'the chain itself is consistent')
  await t.rejects(operate('staff', 'audit'), {
    message: `The audit was changed: entry ${stored.number} differs from the head that was stored for it`
  })
})
