import argon2 from 'argon2'
import { sql } from 'kysely'
import t from 'tap'
import type { ProviderIdentity } from '../providers/tokens.ts'
import type { ProofPurpose } from '../tables.ts'
import { password, randomEmail, testApp } from '../test/app.ts'
import { startStores, subscriptions } from '../test/stores.ts'

const identities = new Map<string, ProviderIdentity>()
const { appStore, create } = await startStores(t, { clock: () => new Date() })
const app = await testApp(t, {
  providers: { PROVIDER_A: async (token) => identities.get(token) },
  createStores: async () => await create(),
  subscriptions
})
const { db, post, send, givenAccount, codeMailedTo, linkMailedTo, login, mailsTo } = app

type Account = Awaited<ReturnType<typeof givenAccount>>

const another = 'Other-Door-7'

async function proofFor (as: Account, purpose: ProofPurpose) {
  return (await post('/account/proof', { purpose, password }, { as })).data.proof as string
}
/** Asks for a change of address. @returns the new address */
async function askForAddress (as: Account) {
  const email = randomEmail()
  t.match(await post('/account/email', { email, proof: await proofFor(as, 'CHANGE_EMAIL') }, { as }), { status: 200 })
  return email
}
const confirmAddress = async (as: Account, code: string) => await post('/account/email/confirm', { code }, { as })
const setPassword = async (as: Account) =>
  await post('/auth/set-initial-password', { password: another }, { as, from: '198.51.100.9' })
const emailOf = async ({ id }: Account) =>
  (await db.selectFrom('accounts').where('id', '=', id).select('email').executeTakeFirstOrThrow()).email
async function requestReset (email: string, count = 1) {
  await post('/auth/forgot-password', { email })
  const { token } = await linkMailedTo(email, count)
  return async () => await post('/auth/reset-password', { email, token, password: 'The-0wners-new' })
}

/** Every signed-in write, with a body that is right: each makes it for an account whose session still lives. */
const writes: Record<string, (as: Account) => Promise<object>> = {
  'POST /auth/set-initial-password': async ({ id }) => {
    await db.updateTable('accounts').set({ password_hash: null }).where('id', '=', id).execute()
    return { password: another }
  },
  'POST /auth/change-password': async () => ({ currentPassword: password, password: another }),
  'POST /auth/logout': async () => ({ allDevices: true }),
  'POST /auth/sessions': async () => ({ action: 'revoke_all' }),
  'POST /account/proof': async () => ({ purpose: 'EXPORT', password }),
  'POST /account/proof/code': async () => ({ purpose: 'DELETE' }),
  'POST /account/email': async (as) => ({ email: randomEmail(), proof: await proofFor(as, 'CHANGE_EMAIL') }),
  'POST /account/email/confirm': async (as) => ({ code: await codeMailedTo(await askForAddress(as)) }),
  'POST /account/deletion': async (as) => ({ proof: await proofFor(as, 'DELETE') }),
  'POST /account/pause': async () => ({}),
  'POST /account/export': async (as) => ({ proof: await proofFor(as, 'EXPORT') }),
  'DELETE /account/export': async (as) => {
    await post('/account/export', { proof: await proofFor(as, 'EXPORT') }, { as })
    return {}
  },
  'POST /subscription/purchases': async () => ({
    store: 'APPLE',
    signedTransaction: await appStore.signTransaction(appStore.buy({ productId: 'premium.monthly' }))
  }),
  'DELETE /account/providers/{provider}': async (as) => {
    await db.insertInto('provider_links').values({ provider: 'PROVIDER_A', subject: as.id, account_id: as.id })
      .execute()
    return { proof: await proofFor(as, 'REMOVE_PROVIDER') }
  }
}
// These have every code of a 401 as UNAUTHORIZED.
const unauthorizedOnly = ['POST /auth/set-initial-password', 'POST /auth/sessions']

async function sendWrite (name: string, as: Account, body: object) {
  const [method, url] = name.split(' ') as ['POST' | 'DELETE', string]
  return await send(method, url.replace('{provider}', 'PROVIDER_A'), { as, body })
}

/** What a write can change. Mails are counted, because they are sent meanwhile. */
async function readState ({ id }: Account) {
  const state: Record<string, unknown> = {}
  const tables = [
    'sessions',
    'codes',
    'proofs',
    'email_changes',
    'email_reverts',
    'provider_links',
    'purchases',
    'subscriptions',
    'exports',
    'erasures'
  ]
  for (const table of tables) {
    const { rows } = await sql`select * from ${sql.table(table)} each where account_id = ${id} order by each`.execute(
      db
    )
    state[table] = rows
  }
  state['accounts'] = await db.selectFrom('accounts').where('id', '=', id).selectAll().execute()
  state['events'] = await db.selectFrom('outbox').where('subject', '=', id).select('id').orderBy('id').execute()
  state['mails'] = (await db.selectFrom('mails').where('account_id', '=', id).select('id').execute()).length
  return state
}

t.test('a token of a session that has ended changes nothing, on any route that writes', async (t) => {
  const { paths } = (await app.app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, { security: object[] }>>
  }>()
  const signedIn = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).filter(([method, { security }]) => method !== 'get' && security.length > 0)
      .map(([method]) => `${method.toUpperCase()} ${path}`)
  )
  t.same(Object.keys(writes).toSorted(), signedIn.toSorted(), 'every such route is tested here')

  for (const [name, prepare] of Object.entries(writes)) {
    const live = await givenAccount()
    t.equal(String((await sendWrite(name, live, await prepare(live))).status).slice(0, 1), '2', `${name} is possible`)

    const dead = await givenAccount()
    const body = await prepare(dead)
    await db.updateTable('sessions').set({ ended_at: new Date() }).where('id', '=', dead.sessionId).execute()
    const before = await readState(dead)
    const code = unauthorizedOnly.includes(name) ? 'UNAUTHORIZED' : 'INVALID_ACCESS_TOKEN'
    t.match(await sendWrite(name, dead, body), { status: 401, code }, `${name} is refused`)
    t.same(await readState(dead), before, `${name} changes nothing`)
  }
})

t.test('a proof by a mailed code or a provider needs a session that lives', async (t) => {
  const account = await givenAccount({ provider: 'PROVIDER_A' })
  const { subject } = await db.selectFrom('provider_links').where('account_id', '=', account.id).select('subject')
    .executeTakeFirstOrThrow()
  identities.set('mine', { subject })
  await post('/account/proof/code', { purpose: 'DELETE' }, { as: account })
  const code = await codeMailedTo(account.email)
  await db.updateTable('sessions').set({ ended_at: new Date() }).where('id', '=', account.sessionId).execute()
  for (const evidence of [{ code }, { provider: 'PROVIDER_A', identityToken: 'mine' }]) {
    t.match(await post('/account/proof', { purpose: 'DELETE', ...evidence }, { as: account }), {
      status: 401,
      code: 'INVALID_ACCESS_TOKEN'
    })
  }
  t.same(await db.selectFrom('proofs').where('account_id', '=', account.id).selectAll().execute(), [])
})

t.test('an appeal with the token of a session that has ended is refused', async (t) => {
  const account = await givenAccount()
  const { id: decisionId } = await db.insertInto('decisions').values({
    account_id: account.id,
    actions: '[]',
    outcome: 'ACTION_TAKEN',
    reason: 'SPAM',
    statement: 'Why',
    is_automated: false
  }).returning('id').executeTakeFirstOrThrow()
  const appeal = async () => await post('/account/appeals', { decisionId, text: 'No' }, { as: account })
  await db.updateTable('sessions').set({ ended_at: new Date() }).where('id', '=', account.sessionId).execute()
  t.match(await appeal(), { status: 401, code: 'UNAUTHORIZED' })
  await db.updateTable('sessions').set({ ended_at: null }).where('id', '=', account.sessionId).execute()
  t.match(await appeal(), { status: 201 })
})

t.test('who registered the address of somebody else cannot set a password once its owner has signed in', async (t) => {
  const email = randomEmail()
  const { user, accessToken } = await post('/auth/register', { email, password }, { from: '198.51.100.9' })
  await post('/auth/request-code', { email })
  await mailsTo(email, 2)
  const { text } = await app.mailWithSubject(email, /sign-in code/)
  const code = /\b\d{6}\b/.exec(text)![0]
  t.match(await post('/auth/login-code', { email, code }), { status: 200, user: { id: user.id } })
  t.match(await setPassword({ accessToken } as Account), { status: 401, code: 'UNAUTHORIZED' })
  t.match(await login(email, { password: another }), { status: 401 })
})

t.test('after a reset, no change of address that was begun before can be confirmed, nor a proof be used', async (t) => {
  const account = await givenAccount()
  const email = await askForAddress(account)
  const proof = await proofFor(account, 'DELETE')
  const reset = await requestReset(account.email)
  t.match(await reset(), { status: 200 })
  t.match(await confirmAddress(account, await codeMailedTo(email)), { status: 401, code: 'INVALID_ACCESS_TOKEN' })
  t.match(await post('/account/deletion', { proof }, { as: account }), { status: 401 })
  t.equal(await emailOf(account), account.email)
})

t.test('what is begun ends with a new password, also for a session that goes on', async (t) => {
  const account = await givenAccount()
  const email = await askForAddress(account)
  const proof = await proofFor(account, 'EXPORT')
  await post('/auth/change-password', { currentPassword: password, password: another }, { as: account })
  t.match(await confirmAddress(account, await codeMailedTo(email)), { status: 400, code: 'INVALID_CODE' })
  t.match(await post('/account/export', { proof }, { as: account }), { status: 403, code: 'PROOF_REQUIRED' })
  for (const table of ['email_changes', 'codes', 'proofs'] as const) {
    t.same(await db.selectFrom(table).where('account_id', '=', account.id).selectAll().execute(), [], table)
  }
})

t.test('a code of verification that was mailed before a reset still verifies', async (t) => {
  const email = randomEmail()
  const { user } = await post('/auth/register', { email, password })
  const code = await codeMailedTo(email)
  t.match(await (await requestReset(email, 2))(), { status: 200 })
  t.match(await post('/auth/verify-email', { userId: user.id, code }), { status: 200, isNewUser: true })
  t.match(await login(email, { password: 'The-0wners-new' }), { status: 200 })
})

t.test('the token of a rejected sign-in does not cancel a deletion after a reset, a newer one does', async (t) => {
  const account = await givenAccount()
  await post('/account/deletion', { proof: await proofFor(account, 'DELETE') }, { as: account })
  const { restoreToken: before } = await login(account.email)
  t.match(await (await requestReset(account.email, 2))(), { status: 200 })
  const cancel = async (restoreToken: unknown) => await post('/account/deletion/cancel', { restoreToken })
  t.match(await cancel(before), { status: 400, code: 'INVALID_TOKEN' })
  const { restoreToken: after } = await login(account.email, { password: 'The-0wners-new' })
  t.match(await cancel(after), { status: 200 })
})

t.test('the token of a rejected sign-in cancels a deletion also if the sign-in has hashed the password again', async (t) => {
  const account = await givenAccount()
  const password_hash = await argon2.hash(password, { memoryCost: 8_192, timeCost: 2, parallelism: 1 })
  await db.updateTable('accounts').set({ password_hash }).where('id', '=', account.id).execute()
  await post('/account/deletion', { proof: await proofFor(account, 'DELETE') }, { as: account })
  const { restoreToken } = await login(account.email)
  t.match(await post('/account/deletion/cancel', { restoreToken }), { status: 200 })
})

t.test('the link of the mail cancels a deletion also after a reset', async (t) => {
  const account = await givenAccount()
  await post('/account/deletion', { proof: await proofFor(account, 'DELETE') }, { as: account })
  const restoreToken = /restore=([\w-]+)/.exec((await mailsTo(account.email))[0]!.text)![1]
  t.match(await (await requestReset(account.email, 2))(), { status: 200 })
  t.match(await post('/account/deletion/cancel', { restoreToken }), { status: 200 })
})

t.test('of a reset and the confirmation of a change of address at the same moment, one wins', async (t) => {
  const outcomes = new Set<string>()
  for (let round = 0; round < 20; round++) {
    const account = await givenAccount()
    const email = await askForAddress(account)
    const code = await codeMailedTo(email)
    const reset = await requestReset(account.email)
    const [changed, done] = await Promise.all([confirmAddress(account, code), reset()])
    outcomes.add(`${changed.status} ${done.status}`)
    t.equal(await emailOf(account), changed.status === 200 ? email : account.email)
    t.match(await login(await emailOf(account), { password: 'The-0wners-new' }), {
      status: done.status === 200 ? 200 : 401
    })
  }
  t.same([...outcomes].filter((each) => !['200 400', '401 200'].includes(each)), [], 'never both')
})

t.test('a password that is set while the owner signs in by a code never stays', async (t) => {
  for (let round = 0; round < 20; round++) {
    const account = await givenAccount({ verified: false, hasPassword: false })
    await post('/auth/request-code', { email: account.email })
    const code = await codeMailedTo(account.email)
    const [set, signedIn] = await Promise.all([
      setPassword(account),
      post('/auth/login-code', { email: account.email, code })
    ])
    t.match(signedIn, { status: 200 })
    t.ok([200, 401].includes(set.status), String(set.status))
    t.match(await login(account.email, { password: another }), { status: 401 })
  }
})

t.test('of a sign-out everywhere and a change of the password at the same moment, one order happens', async (t) => {
  for (let round = 0; round < 10; round++) {
    const account = await givenAccount()
    const other = await app.givenSession(account)
    const [out, changed] = await Promise.all([
      post('/auth/logout', { allDevices: true }, { as: other }),
      post('/auth/change-password', { currentPassword: password, password: another }, { as: account })
    ])
    // The second one has no session any more.
    t.same([out, changed].map(({ status }) => String(status)).toSorted(), ['200', '401'])
    t.match(await login(account.email, { password: changed.status === 200 ? another : password }), { status: 200 })
  }
})
