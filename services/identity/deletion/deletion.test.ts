import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { runCommand } from '../operator/commands.ts'
import type { ProviderIdentity } from '../providers/tokens.ts'
import { inParallel, password, testApp } from '../test/app.ts'
import { remindOfDeletions } from './mails.ts'

const identities = new Map<string, ProviderIdentity>()
const {
  db,
  deps,
  get,
  post,
  givenAccount,
  givenSession,
  codeMailedTo,
  linkMailedTo,
  expiryOfMail,
  mailsTo,
  mailWithSubject,
  mail,
  login,
  canRefresh,
  publishedEvents
} = await testApp(t, { providers: { PROVIDER_B: async (token) => identities.get(token) } })
type Account = Awaited<ReturnType<typeof givenAccount>>

const DAY_MS = 24 * 60 * 60 * 1_000

async function proofOf (account: Account) {
  const { data: { proof } } = await post('/account/proof', { purpose: 'DELETE', password }, { as: account })
  return proof as string
}
async function strongProofOf (account: Account) {
  await post('/account/proof/code', { purpose: 'DELETE' }, { as: account })
  const code = await codeMailedTo(account.email)
  const { data: { proof } } = await post('/account/proof', { purpose: 'DELETE', code }, { as: account })
  return proof as string
}
const remove = async (account: Account, body: object) => await post('/account/deletion', body, { as: account })
const requestLink = async (email: string) => await post('/account/deletion/link', { email })
const cancel = async (restoreToken: unknown) => await post('/account/deletion/cancel', { restoreToken })
/** The token of the link that cancels the deletion. */
const mailedRestoreToken = async ({ email }: Account) =>
  /restore=([\w-]+)/.exec((await mailWithSubject(email, /will be deleted/)).text)![1]
const hiddenEvents = async ({ id }: Account) =>
  (await publishedEvents(id)).filter(({ type }) => type === 'person.hidden').map(({ hidden }) => hidden)
const rowOf = async ({ id }: Account) =>
  await db.selectFrom('accounts').where('id', '=', id).selectAll().executeTakeFirstOrThrow()
const erasuresOf = async ({ id }: Account) =>
  await db.selectFrom('erasures').where('account_id', '=', id).selectAll().execute()

/** A purchase that its store goes on to bill. @returns where it can be canceled */
async function givenPurchase ({ id }: Account) {
  const { manage_url: manageUrl } = await db.insertInto('purchases').values({
    store: 'APPLE',
    environment: 'PRODUCTION',
    store_key: id,
    encrypted_token: null,
    account_id: id,
    plan_id: 'premium',
    product_id: 'premium.monthly',
    state: 'ACTIVE',
    will_renew: true,
    is_trial: false,
    is_family_shared: false,
    period_start: new Date(),
    period_end: new Date(Date.now() + 30 * DAY_MS),
    grace_end: null,
    revoked_at: null,
    order_digest: null,
    manage_url: 'https://apps.apple.com/account/subscriptions',
    replaces: [],
    known_at: new Date(),
    check_at: null,
    checked_at: null,
    needs_acknowledgement: false,
    bought_at: new Date()
  }).returning('manage_url').executeTakeFirstOrThrow()
  return manageUrl
}

t.test('a deletion is scheduled: sessions end, the person is hidden, and a mail has the date and a link', async (t) => {
  const account = await givenAccount({ provider: 'PROVIDER_B' })
  const other = await givenSession(account)
  const manageUrl = await givenPurchase(account)
  const deletion = await remove(account, { proof: await proofOf(account) })
  t.match(deletion, {
    status: 202,
    data: {
      deletion: {
        status: 'SCHEDULED',
        providers: ['PROVIDER_B'],
        hasSubscription: true,
        manageUrl,
        keeps: [{ what: String }]
      }
    }
  })
  const { id, requestedAt, eraseAt } = deletion.data.deletion
  t.equal(new Date(eraseAt).getTime() - new Date(requestedAt).getTime(), 14 * DAY_MS, 'to the second')
  t.notOk(await canRefresh(account))
  t.notOk(await canRefresh(other))
  t.same(await hiddenEvents(account), [true])
  t.match(await get(`/account/deletions/${id}`), { status: 200, data: deletion.data })
  t.match(await get(`/account/deletions/${id}`, { headers: { 'accept-language': 'id' } }), {
    data: { deletion: { keeps: [{ until: '180 hari setelah keputusan terakhir' }] } }
  }, 'what stays is said in the language of the person')

  const [{ subject, text } = { subject: '', text: '' }] = await mailsTo(account.email)
  t.equal(subject, 'Your Tandem account will be deleted')
  t.match(text, `The store goes on to bill it until you cancel it there: ${manageUrl}`)
  t.match(text, 'You signed in with an account of another company')
  const sentFor = (await expiryOfMail(account.email, 'deletion')).getTime() - new Date(eraseAt).getTime()
  t.ok(Math.abs(sentFor) < 60_000, 'the mail is sent as long as its link works')
  const { url } = await linkMailedTo(account.email)
  t.match([url.pathname, url.search], ['/delete-account', ''])
  const fields = new URLSearchParams(url.hash.slice(1))
  t.equal(fields.get('id'), id)
  const restored = await post('/account/deletion/cancel', { restoreToken: fields.get('restore') })
  t.match(restored, { status: 200, user: { email: account.email } })
  t.same(await hiddenEvents(account), [true, false])
  t.match(await login(account.email), { status: 200 })
})

t.test('after a cancel the account is as it was', async (t) => {
  const account = await givenAccount({ provider: 'PROVIDER_B' })
  const state = async () => [
    { ...await rowOf(account), updated_at: null },
    await db.selectFrom('provider_links').where('account_id', '=', account.id).selectAll().execute()
  ]
  const before = await state()
  await remove(account, { proof: await proofOf(account) })
  const { restoreToken } = await login(account.email)
  await post('/account/deletion/cancel', { restoreToken })
  t.same(await state(), before)
})

t.test('a cancel with the mailed link verifies the address, and revokes what its registrant knows', async (t) => {
  const registrant = await givenAccount({ verified: false })
  await remove(registrant, { proof: await proofOf(registrant) })
  const restored = await cancel(await mailedRestoreToken(registrant))
  t.match(restored, { status: 200, user: { email: registrant.email, emailVerified: true } })
  t.match(await login(registrant.email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match((await publishedEvents(registrant.id)).slice(-4).map(({ type }) => type), [
    'person.hidden',
    'password.changed',
    'account.verified',
    'session.started'
  ])

  const owner = await givenAccount()
  await remove(owner, { proof: await proofOf(owner) })
  t.match(await cancel(await mailedRestoreToken(owner)), { status: 200, user: { emailVerified: true } })
  t.match(await login(owner.email), { status: 200 }, 'the password of a verified account stays')
})

t.test('the deletion of a banned account can be canceled, which starts no session and ends no ban', async (t) => {
  const account = await givenAccount()
  await runCommand(db, {}, ['ban', account.email])
  await requestLink(account.email)
  const { token } = await linkMailedTo(account.email)
  t.match(await post('/account/deletion/confirm', { token }), { status: 202 })
  const canceled = await cancel(await mailedRestoreToken(account))
  t.match(canceled, { status: 403, code: 'ACCOUNT_BANNED' })
  t.notMatch(canceled, { accessToken: String })
  t.match(await erasuresOf(account), [{ status: 'CANCELED' }])
  t.match(await login(account.email), { status: 403, code: 'ACCOUNT_BANNED' })
  t.same((await hiddenEvents(account)).at(-1), true)
})

t.test('after a cancel no mail that waited says that the account will be erased', async (t) => {
  const account = await givenAccount()
  mail.rejectWith(451)
  t.teardown(() => mail.rejectWith())
  await remove(account, { proof: await proofOf(account) })
  const { restoreToken } = await login(account.email)
  t.match(await post('/account/deletion/cancel', { restoreToken }), { status: 200 })
  mail.rejectWith()
  const mails = async () =>
    await db.selectFrom('mails').where('account_id', '=', account.id).select(['status', 'last_error']).execute()
  await until(async () => (await mails()).every(({ status }) => status === 'failed'))
  t.match(await mails(), [{ status: 'failed', last_error: /superseded/ }])
})

t.test('the link of a canceled deletion, whose mail waited, does not arrive after the one of the next', async (t) => {
  const account = await givenAccount()
  mail.rejectWith(451)
  await remove(account, { proof: await proofOf(account) })
  const { restoreToken } = await login(account.email)
  const { user, ...tokens } = await post('/account/deletion/cancel', { restoreToken })
  await remove({ ...account, ...tokens }, { proof: await proofOf({ ...account, ...tokens }) })
  mail.rejectWith()
  while (
    await db.selectFrom('mails').select('id').where('account_id', '=', user.id)
      .where('status', 'in', ['pending', 'sending']).executeTakeFirst()
  ) await sleep(20)
  t.equal((await mailsTo(account.email)).length, 1)
  const restore = new URLSearchParams((await linkMailedTo(account.email)).url.hash.slice(1)).get('restore')
  t.match(await post('/account/deletion/cancel', { restoreToken: restore }), { status: 200 })
})

t.test('a deletion needs a proof, and without grace the proof of a mailed code', async (t) => {
  const account = await givenAccount()
  t.match(await remove(account, {}), { status: 403, code: 'PROOF_REQUIRED' })
  t.match(await remove(account, { proof: 'x' }), { status: 403, code: 'PROOF_REQUIRED' })
  const { data: { proof: other } } = await post('/account/proof', { purpose: 'EXPORT', password }, { as: account })
  t.match(await remove(account, { proof: other }), { status: 403, code: 'PROOF_REQUIRED' }, 'for something else')
  const weak = await proofOf(account)
  t.match(await remove(account, { proof: weak, immediately: true }), { status: 403, code: 'PROOF_TOO_WEAK' })
  t.same(await erasuresOf(account), [])
  const proof = await strongProofOf(account)
  const { status, data: { deletion } } = await remove(account, { proof, immediately: true })
  t.equal(status, 202)
  const delay = new Date(deletion.eraseAt).getTime() - new Date(deletion.requestedAt).getTime()
  t.equal(delay, 20 * 60 * 1_000, 'when the last access token has expired')
  t.match(await post('/account/deletion', {}), { status: 401, code: 'UNAUTHORIZED' })
  t.same((await erasuresOf(account)).map(({ cause }) => cause), ['OWNER'])
})

t.test('of twenty deletions at once one is scheduled, and one mail is sent', async (t) => {
  const account = await givenAccount()
  const proof = await proofOf(account)
  const { tally } = await inParallel(20, async () => await remove(account, { proof }))
  t.same(tally, { '202': 1, '401 INVALID_ACCESS_TOKEN': 19 })
  t.equal((await erasuresOf(account)).length, 1)
  await mailsTo(account.email)
  t.equal((await db.selectFrom('mails').where('account_id', '=', account.id).select('id').execute()).length, 1)
})

t.test('a sign-in and a deletion at once leave no session', async (t) => {
  for (let round = 0; round < 20; round++) {
    const account = await givenAccount()
    const proof = await proofOf(account)
    const [signedIn] = await Promise.all([login(account.email), remove(account, { proof })])
    t.ok([200, 403].includes(signedIn.status))
    const live = await db.selectFrom('sessions').where('account_id', '=', account.id).where('ended_at', 'is', null)
      .select('id').execute()
    t.same(live, [])
  }
})

t.test('every way to sign in is rejected while a deletion is pending, and none revives the account', async (t) => {
  const account = await givenAccount({ provider: 'PROVIDER_B' })
  const { subject } = await db.selectFrom('provider_links').where('account_id', '=', account.id).select('subject')
    .executeTakeFirstOrThrow()
  identities.set('mine', { subject, email: account.email })
  await remove(account, { proof: await proofOf(account) })
  const pending = { status: 403, code: 'ACCOUNT_DELETION_PENDING', eraseAt: String, restoreToken: String }
  t.match(await login(account.email), pending)
  t.match(await post('/auth/provider-b', { identityToken: 'mine' }), pending)
  await post('/auth/request-code', { email: account.email })
  const code = await codeMailedTo(account.email, 2)
  t.match(await post('/auth/login-code', { email: account.email, code }), pending)
  t.match(await erasuresOf(account), [{ status: 'SCHEDULED' }])
  t.match(await post('/auth/register', { email: account.email, password }), { status: 409, code: 'EMAIL_EXISTS' })
})

t.test('a rejected sign-in by mail verifies the address, and its token cancels the deletion', async (t) => {
  for (const way of ['code', 'link']) {
    const account = await givenAccount({ verified: false })
    await remove(account, { proof: await proofOf(account) })
    await mailsTo(account.email)
    await post('/auth/request-code', { email: account.email })
    const code = await codeMailedTo(account.email, 2)
    const { token } = await linkMailedTo(account.email, 2)
    const signIn = async () =>
      way === 'code'
        ? await post('/auth/login-code', { email: account.email, code })
        : await post('/auth/login-link', { token })
    const pending = await signIn()
    t.match(pending, { status: 403, code: 'ACCOUNT_DELETION_PENDING' }, way)
    t.match(await signIn(), { status: 400 }, 'it works once')
    t.match(await cancel(pending.restoreToken), { status: 200, user: { emailVerified: true } })
    t.match(await login(account.email), { status: 401, code: 'INVALID_CREDENTIALS' })
  }
})

t.test('a mailed link deletes an account without a sign-in, once, also a banned one', async (t) => {
  const account = await givenAccount()
  await runCommand(db, {}, ['ban', account.email])
  t.match(await requestLink(account.email), { status: 200, message: String })
  const { url, token } = await linkMailedTo(account.email)
  t.match([url.pathname, url.search], ['/delete-account', ''])
  const confirm = async () => await post('/account/deletion/confirm', { token })
  const { tally } = await inParallel(10, confirm)
  t.match(tally, { 202: 1 })
  t.same((await erasuresOf(account)).map(({ cause, status }) => [cause, status]), [['LINK', 'SCHEDULED']])
  t.match(await confirm(), { status: 400, code: 'INVALID_TOKEN' })
  await mailsTo(account.email, 2)
  await requestLink(account.email)
  const again = await linkMailedTo(account.email, 3)
  t.match(await post('/account/deletion/confirm', { token: again.token }), { status: 409, code: 'DELETION_PENDING' })
})

t.test('a link expires, is replaced by the next one, and allows a deletion without grace', async (t) => {
  const account = await givenAccount()
  await requestLink(account.email)
  const first = await linkMailedTo(account.email)
  await requestLink(account.email)
  const second = await linkMailedTo(account.email, 2)
  const confirm = async (token: string | null) => await post('/account/deletion/confirm', { token, immediately: true })
  t.match(await confirm(first.token), { status: 400, code: 'INVALID_TOKEN' })
  await sql`update deletion_links set expires_at = now() where account_id = ${account.id}`.execute(db)
  t.match(await confirm(second.token), { status: 400, code: 'INVALID_TOKEN' })
  await requestLink(account.email)
  const third = await linkMailedTo(account.email, 3)
  const { data: { deletion } } = await confirm(third.token)
  t.equal(new Date(deletion.eraseAt).getTime() - new Date(deletion.requestedAt).getTime(), 20 * 60 * 1_000)
})

t.test('an unknown address gets the same response and no mail; links have a limit of their own', async (t) => {
  const account = await givenAccount()
  const known = await requestLink(account.email)
  t.same(await requestLink('nobody@example.com'), known)
  for (let times = 1; times <= 3; times++) {
    // A later link replaces an earlier one that is not sent yet.
    await mailsTo(account.email, times)
    await requestLink(account.email)
  }
  await post('/auth/request-code', { email: account.email })
  await mailsTo(account.email, 4)
  t.equal(mail.mails(account.email).filter(({ text }) => text.includes('/delete-account#')).length, 3)
  t.same(mail.mails('nobody@example.com'), [])
})

t.test('owners are reminded two days before, once, unless the grace period is shorter', async (t) => {
  const account = await givenAccount()
  await remove(account, { proof: await proofOf(account) })
  const short = await givenAccount()
  await remove(short, { proof: await strongProofOf(short), immediately: true })
  await remindOfDeletions(deps)
  await mailsTo(account.email)
  await sql`update erasures set requested_at = now() - interval '12 days', erase_at = now() + interval '47 hours' where account_id = ${account.id}`
    .execute(db)
  await Promise.all([remindOfDeletions(deps), remindOfDeletions(deps)])
  const mails = await mailsTo(account.email, 2)
  t.same(mails.map(({ subject }) => subject), [
    'Reminder: your account will be deleted',
    'Your Tandem account will be deleted'
  ])
  await remindOfDeletions(deps)
  t.equal((await db.selectFrom('mails').where('account_id', '=', account.id).select('id').execute()).length, 2)
  t.match(await erasuresOf(short), [{ reminded_at: null }])
})
