import { sql } from 'kysely'
import t from 'tap'
import type { ProviderIdentity } from '../providers/tokens.ts'
import { inParallel, password, testApp, wrongCode } from '../test/app.ts'
import type { ProofPurpose } from '../tables.ts'
import { claimProof } from './actions.ts'

const identities = new Map<string, ProviderIdentity>()
const { db, post, givenAccount, givenSession, codeMailedTo, mailsTo, mail, login } = await testApp(t, {
  providers: { PROVIDER_B: async (token) => identities.get(token) }
})
type Account = Awaited<ReturnType<typeof givenAccount>>

const prove = async (account: Account, evidence: object, purpose: ProofPurpose = 'DELETE') =>
  await post('/account/proof', { purpose, ...evidence }, { as: account })
const requestCode = async (account: Account, purpose: ProofPurpose = 'DELETE') =>
  await post('/account/proof/code', { purpose }, { as: account })
const claim = async ({ id: accountId, sessionId }: Account, proof: string, purpose: ProofPurpose = 'DELETE') =>
  await db.transaction().execute(async (trx) => await claimProof(trx, { accountId, sessionId }, { purpose, proof }))
const proofRequired = { code: 'PROOF_REQUIRED', statusCode: 403 }

t.test('a password, a mailed code or the token of a linked provider is exchanged for a proof', async (t) => {
  const account = await givenAccount({ provider: 'PROVIDER_B' })
  const byPassword = await prove(account, { password })
  t.match(byPassword, { status: 200, data: { proof: /^[\w-]{43}$/ } })
  const lifetime = new Date(byPassword.data.expiresAt).getTime() - Date.now()
  t.ok(lifetime > 590_000 && lifetime <= 600_000, 'for ten minutes')
  t.equal(await claim(account, byPassword.data.proof), 'PASSWORD')

  t.match(await requestCode(account), { status: 200, message: String })
  const byCode = await prove(account, { code: await codeMailedTo(account.email) })
  t.equal(await claim(account, byCode.data.proof), 'CODE')

  const { subject } = await db.selectFrom('provider_links').where('account_id', '=', account.id).select('subject')
    .executeTakeFirstOrThrow()
  identities.set('mine', { subject })
  const byProvider = await prove(account, { provider: 'PROVIDER_B', identityToken: 'mine' })
  t.equal(await claim(account, byProvider.data.proof), 'PROVIDER_B')
})

t.test('a proof is valid once, in its session, for its purpose, and for ten minutes', async (t) => {
  const account = await givenAccount()
  const another = await givenSession(account)
  const { data: { proof } } = await prove(account, { password })
  await t.rejects(claim(another, proof), proofRequired, 'another session')
  await t.rejects(claim(await givenAccount(), proof), proofRequired, 'another account')
  await t.rejects(claim(account, proof, 'EXPORT'), proofRequired, 'another purpose')
  await t.rejects(claim(account, `${proof}x`), proofRequired, 'another proof')
  const claims = await Promise.allSettled(Array.from({ length: 20 }, async () => await claim(account, proof)))
  t.equal(claims.filter(({ status }) => status === 'fulfilled').length, 1, 'once, also of twenty at once')

  const { data: late } = await prove(account, { password })
  await sql`update proofs set expires_at = now() where account_id = ${account.id}`.execute(db)
  await t.rejects(claim(account, late.proof), proofRequired, 'expired')
})

t.test('a change that fails does not use the proof up', async (t) => {
  const account = await givenAccount()
  const { data: { proof } } = await prove(account, { password })
  await t.rejects(
    db.transaction().execute(async (trx) => {
      await claimProof(trx, { accountId: account.id, sessionId: account.sessionId }, { purpose: 'DELETE', proof })
      throw new Error('the change failed')
    }),
    { message: 'the change failed' }
  )
  t.equal(await claim(account, proof), 'PASSWORD')
})

t.test('wrong evidence is rejected', async (t) => {
  const account = await givenAccount()
  t.match(await prove(account, { password: 'Wrong-0ne' }), { status: 401, code: 'INVALID_CREDENTIALS' })
  await requestCode(account)
  const code = await codeMailedTo(account.email)
  t.match(await prove(account, { code: wrongCode(code) }), { status: 400, code: 'INVALID_CODE' })
  t.match(await prove(account, { code }, 'EXPORT'), { status: 400, code: 'INVALID_CODE' }, 'a code for something else')
  identities.set('of somebody else', { subject: 'somebody else' })
  for (const identityToken of ['of somebody else', 'forged']) {
    const rejected = await prove(account, { provider: 'PROVIDER_B', identityToken })
    t.match(rejected, { status: 401, code: 'INVALID_PROVIDER_B_TOKEN' }, identityToken)
  }
  const withoutPassword = await givenAccount({ hasPassword: false })
  t.match(await prove(withoutPassword, { password }), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await post('/account/proof', { purpose: 'DELETE', password }), { status: 401, code: 'UNAUTHORIZED' })
  t.match(await post('/account/proof/code', { purpose: 'DELETE' }), { status: 401, code: 'UNAUTHORIZED' })
})

t.test('a request needs one purpose and one kind of evidence', async (t) => {
  const account = await givenAccount()
  const invalid = [
    {},
    { password, code: '123456' },
    { provider: 'PROVIDER_B' },
    { identityToken: 'x' },
    { password, provider: 'PROVIDER_B' },
    { password, purpose: 'LOGIN' }
  ]
  for (const body of invalid) {
    t.match(await prove(account, body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body))
  }
  t.match(await prove(account, { password }), { status: 200 }, 'none of them was counted')
})

t.test('an account has five attempts in 15 minutes, right or wrong, also at once', async (t) => {
  const account = await givenAccount()
  const { tally } = await inParallel(20, async () => await prove(account, { code: '000000' }))
  t.same(tally, { '400 INVALID_CODE': 5, '429 RATE_LIMITED': 15 })
  t.match(await prove(account, { password }), { status: 429, code: 'RATE_LIMITED' })
  t.match(await prove(await givenAccount(), { password }), { status: 200 }, 'others are not affected')
  await sql`update proof_attempts set attempted_at = array[now() - interval '15 minutes'] where account_id = ${account.id}`
    .execute(db)
  t.match(await prove(account, { password }), { status: 200 })
})

t.test('a wrong password counts as a failed sign-in', async (t) => {
  const account = await givenAccount()
  for (let times = 0; times < 5; times++) await prove(account, { password: 'Wrong-0ne' })
  await sql`update failed_password_attempts set blocked_until = now() + interval '1 minute'`.execute(db)
  t.match(await login(account.email), { status: 401, code: 'INVALID_CREDENTIALS' })
})

t.test('three codes are mailed an hour, apart from those of sign-in; only the newest is valid, for five attempts', async (t) => {
  const account = await givenAccount()
  const { tally } = await inParallel(8, async () => await requestCode(account))
  t.same(tally, { '200': 3, '429 RATE_LIMITED': 5 })
  await post('/auth/request-code', { email: account.email })
  await mailsTo(account.email, 2)
  t.ok(mail.mails(account.email).some(({ text }) => text.includes('to sign in')), 'the code of sign-in is still mailed')

  const other = await givenAccount()
  await requestCode(other)
  const first = await codeMailedTo(other.email)
  await requestCode(other)
  const code = await codeMailedTo(other.email, 2)
  if (first !== code) t.match(await prove(other, { code: first }), { code: 'INVALID_CODE' })
  for (let times = 0; times < 4; times++) await prove(other, { code: wrongCode(code) })
  await sql`update proof_attempts set attempted_at = '{}' where account_id = ${other.id}`.execute(db)
  const last = await prove(other, { code })
  t.match(last, first === code ? { status: 200 } : { status: 400, code: 'INVALID_CODE' })
})

t.test('guesses at a code for a proof do not use up the attempts of sign-in', async (t) => {
  const account = await givenAccount()
  await requestCode(account)
  const code = await codeMailedTo(account.email)
  await prove(account, { code: wrongCode(code) })
  t.same(await db.selectFrom('wrong_codes').where('account_id', '=', account.id).selectAll().execute(), [])
})

t.test('a banned account gets neither proof nor code', async (t) => {
  const account = await givenAccount()
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', account.id).execute()
  t.match(await prove(account, { password }), { status: 404, code: 'USER_NOT_FOUND' })
  t.match(await requestCode(account), { status: 401, code: 'INVALID_ACCESS_TOKEN' })
  t.same(mail.mails(account.email), [])
})
