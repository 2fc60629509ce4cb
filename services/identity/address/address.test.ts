import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import type { ProviderIdentity } from '../providers/tokens.ts'
import { password, randomEmail, testApp, wrongCode } from '../test/app.ts'

const identities = new Map<string, ProviderIdentity>()
const verify = async (token: string) => identities.get(token)
const app = await testApp(t, { providers: { PROVIDER_A: verify, PROVIDER_B: verify } })
const {
  db,
  givenAccount,
  givenSession,
  get,
  post,
  login,
  expiryOfMail,
  mailsTo,
  mailWithSubject,
  codeMailedTo,
  linkMailedTo,
  publishedEvents
} = app

type Account = Awaited<ReturnType<typeof givenAccount>>

async function prove (as: Account) {
  await db.deleteFrom('proof_attempts').where('account_id', '=', as.id).execute()
  return (await post('/account/proof', { purpose: 'CHANGE_EMAIL', password }, { as })).data.proof as string
}
const ask = async (as: Account, email: string) =>
  await post('/account/email', { email, proof: await prove(as) }, { as })
const confirm = async (as: Account, code: string) => await post('/account/email/confirm', { code }, { as })
const revert = async (token: string | null) => await post('/account/email/revert', { token })

/** Changes the address. @returns the token of the link in the mail to the old one */
async function change (as: Account, email: string, old = as.email) {
  t.match(await ask(as, email), { status: 200 })
  t.match(await confirm(as, await codeMailedTo(email)), { status: 200, data: { email } })
  // A mailbox that got a code before has the link as its second mail.
  return { token: (await linkMailedTo(old, old === as.email ? 1 : 2)).token }
}

t.test('an address changes with the code from the new mailbox; other sessions and old links end', async (t) => {
  const ana = await givenAccount()
  const other = await givenSession(ana)
  const email = randomEmail()
  await post('/auth/forgot-password', { email: ana.email })
  const reset = await linkMailedTo(ana.email)
  t.match(await ask(ana, email.toUpperCase()), { status: 200, success: true })
  t.match(await login(ana.email), { status: 200 }, 'nothing has changed yet')
  const code = await codeMailedTo(email)
  t.match(await confirm(ana, wrongCode(code)), { status: 400, code: 'INVALID_CODE' })
  t.match(await confirm(ana, code), { status: 200, data: { email } })
  t.match(await confirm(ana, code), { status: 400, code: 'INVALID_CODE' }, 'a code works once')

  t.match(await login(email), { status: 200 })
  t.match(await login(ana.email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.equal(await app.canRefresh(other), false)
  t.equal((await get('/auth/sessions', { as: ana })).status, 200, 'the own session stays')
  const used = { email, token: reset.token, password: 'Other-0pen-5ky' }
  t.match(await post('/auth/reset-password', used), { status: 400, code: 'INVALID_TOKEN' })
  t.match((await mailsTo(ana.email, 2))[0], { subject: 'The address of your Tandem account has changed' })
  t.ok(
    (await expiryOfMail(ana.email, 'email-changed')).getTime() > Date.now() + 6 * 86_400_000,
    'the mail is sent as long as its link works'
  )
  const events = await db.selectFrom('security_events').where('account_id', '=', ana.id).select(['kind', 'detail'])
    .execute()
  t.match(events.filter(({ kind }) => kind === 'EMAIL_CHANGED'), [{ detail: { how: 'CHANGED' } }])
  t.notMatch(JSON.stringify(events), email)
})

t.test('it needs a proof, and an address that nobody has', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  t.match(await post('/account/email', { email: randomEmail(), proof: 'x' }, { as: ana }), {
    status: 403,
    code: 'PROOF_REQUIRED'
  })
  t.match(await ask(ana, ben.email.toUpperCase()), { status: 409, code: 'EMAIL_EXISTS' })
  t.match(await ask(ana, 'not an address'), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await confirm(ana, '123456'), { status: 400, code: 'INVALID_CODE' })
  const recipients = [randomEmail(), randomEmail(), randomEmail(), randomEmail(), randomEmail(), randomEmail()]
  const answers = []
  for (const email of recipients) answers.push(await ask(ana, email))
  t.match(answers.at(-1), { status: 429, code: 'RATE_LIMITED' }, 'five a day')
  t.equal(app.mail.mails(recipients[5]!).length, 0)
})

t.test('an address that somebody registered and never verified does not block a change', async (t) => {
  const [ana, stranger] = [await givenAccount(), await givenAccount({ verified: false })]
  await change(ana, stranger.email)
  t.match(await login(stranger.email), { status: 200, user: { id: ana.id } })
  t.match(await get('/auth/me', { as: stranger }), { status: 404, code: 'USER_NOT_FOUND' })
  const leaving = await givenAccount({ verified: false })
  const { data } = await post('/account/proof', { purpose: 'DELETE', password }, { as: leaving })
  t.match(await post('/account/deletion', data, { as: leaving }), { status: 202 })
  await mailsTo(leaving.email)
  t.match(await ask(ana, leaving.email), { status: 200 })
  t.match(await confirm(ana, await codeMailedTo(leaving.email, 2)), { status: 200, data: { email: leaving.email } })
  const banned = await givenAccount({ verified: false })
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', banned.id).execute()
  t.match(await ask(ana, banned.email), { status: 409, code: 'EMAIL_EXISTS' })
})

t.test('mails to a new address have a limit of their own', async (t) => {
  const target = randomEmail()
  for (let index = 0; index < 3; index++) t.match(await ask(await givenAccount(), target), { status: 200 })
  t.match(await ask(await givenAccount(), target), { status: 429, code: 'RATE_LIMITED' })
  const owner = await givenAccount({ email: target })
  await post('/auth/request-code', { email: owner.email })
  await mailWithSubject(target, /sign-in code/)
})

t.test('of two accounts that confirm one address at once, one gets it', async (t) => {
  for (let round = 0; round < 10; round++) {
    const [ana, ben] = [
      await givenAccount({ hasPassword: round === 0 }),
      await givenAccount({ hasPassword: round === 0 })
    ]
    const email = randomEmail()
    const codes: string[] = []
    for (const each of [ana, ben]) {
      await db.updateTable('accounts').set({ password_hash: await hashOf() }).where('id', '=', each.id).execute()
      await ask(each, email)
      codes.push(await codeMailedTo(email, codes.length + 1))
    }
    const answers = await Promise.all([confirm(ana, codes[0]!), confirm(ben, codes[1]!)])
    t.same(answers.map(({ status, code }) => `${status} ${code}`).toSorted(), ['200 undefined', '409 EMAIL_EXISTS'])
    t.equal((await db.selectFrom('accounts').where('email', '=', email).select('id').execute()).length, 1)
  }
})

t.test('the old address can take a change back for seven days, once; password and sessions end', async (t) => {
  const ana = await givenAccount()
  const email = randomEmail()
  const { token } = await change(ana, email)
  t.match(await post('/auth/register', { email: ana.email, password }), { status: 409, code: 'EMAIL_EXISTS' })
  t.match(await post('/auth/check-email', { email: ana.email }), { exists: true, method: 'credentials' })
  t.match(await ask(await givenAccount(), ana.email), { status: 409 }, 'nobody else gets the old address meanwhile')
  t.match(await revert('x'.repeat(43)), { status: 400, code: 'INVALID_TOKEN' })
  const answers = await Promise.all([revert(token), revert(token)])
  t.same(answers.map(({ status }) => String(status)).toSorted(), ['200', '400'], 'it works once')
  t.match(await login(ana.email), { status: 401 }, 'the password is cleared')
  t.equal(await app.canRefresh(ana), false)
  t.ok((await publishedEvents(ana.id)).some(({ type, how }) => type === 'password.changed' && how === 'CLEARED'))
  await post('/auth/request-code', { email: ana.email })
  const code = await codeMailedTo(ana.email, 2)
  t.match(await post('/auth/login-code', { email: ana.email, code }), { status: 200 })
  t.match(await post('/auth/register', { email, password }), { status: 201 }, 'the other address is free')
})

t.test('a link ends after seven days, and the old address is free then', async (t) => {
  const ana = await givenAccount()
  const { token } = await change(ana, randomEmail())
  await sql`update email_reverts set expires_at = now() where account_id = ${ana.id}`.execute(db)
  t.match(await revert(token), { status: 400, code: 'INVALID_TOKEN' })
  t.match(await post('/auth/register', { email: ana.email, password }), { status: 201 })
  await runHousekeeping(db)
  t.same(await db.selectFrom('email_reverts').where('account_id', '=', ana.id).selectAll().execute(), [])
})

t.test('a thief who changes the address twice cannot keep the owner out', async (t) => {
  const ana = await givenAccount()
  const [second, third] = [randomEmail(), randomEmail()]
  const owners = await change(ana, second)
  const thiefs = await change(ana, third, second)
  t.match(await revert(thiefs.token), { status: 200 }, 'back to the second address')
  t.match(await revert(owners.token), { status: 200 }, "the owner's link still works")
  t.match(await revert(thiefs.token), { status: 400 })
  const { email } = await db.selectFrom('accounts').where('id', '=', ana.id).select('email').executeTakeFirstOrThrow()
  t.equal(email, ana.email)
})

t.test('an address that nobody verified gets no link', async (t) => {
  const eve = await givenAccount({ verified: false })
  const email = randomEmail()
  await ask(eve, email)
  t.match(await confirm(eve, await codeMailedTo(email)), { status: 200 })
  t.equal(app.mail.mails(eve.email).length, 0)
  t.ok((await publishedEvents(eve.id)).some(({ type }) => type === 'account.verified'))
  t.match(await post('/auth/register', { email: eve.email, password }), { status: 201 })
})

t.test('taking a change back removes the providers that were linked since, and cancels a deletion', async (t) => {
  const ana = await givenAccount()
  const email = randomEmail()
  identities.set('ana', { subject: ana.id, email: ana.email })
  const before = await post('/auth/provider-a', { idToken: 'ana' })
  t.equal(before.status, 200)
  const { token } = await change(ana, email)
  identities.set('thief', { subject: email, email })
  t.match(await post('/auth/provider-b', { identityToken: 'thief' }), { status: 200, user: { id: ana.id } })
  const { data: { proof } } = await post('/account/proof', { purpose: 'DELETE', password }, { as: ana })
  t.match(await post('/account/deletion', { proof }, { as: ana }), { status: 202 })
  t.match(await login(email), { code: 'ACCOUNT_DELETION_PENDING' })

  t.match(await revert(token), { status: 200 })
  t.match(await post('/auth/provider-b', { identityToken: 'thief' }), { status: 201 }, 'an account of their own')
  t.match(await post('/auth/provider-a', { idToken: 'ana' }), { status: 200, user: { id: ana.id } }, 'an earlier link')
  t.match(await db.selectFrom('erasures').where('account_id', '=', ana.id).select('status').execute(), [{
    status: 'CANCELED'
  }])
  t.equal((await publishedEvents(ana.id)).findLast(({ type }) => type === 'person.hidden')!['hidden'], false)
  const networks = await db.selectFrom('account_networks').where('account_id', '=', ana.id).select('network').execute()
  t.equal(networks.length, 1, 'only that of the sign-in since')
})

t.test('a provider that is linked, or a deletion requested, while a change is taken back never stays', async (t) => {
  for (let round = 0; round < 20; round++) {
    const ana = await givenAccount()
    const email = randomEmail()
    const { token } = await change(ana, email)
    const { data: { proof } } = await post('/account/proof', { purpose: 'DELETE', password }, { as: ana })
    identities.set('thief', { subject: email, email })
    const answers = await Promise.all([
      post('/auth/provider-b', { identityToken: 'thief' }),
      revert(token),
      post('/account/deletion', { proof }, { as: ana })
    ])
    t.equal(answers[1]!.status, 200)
    const ofAna = async (table: 'provider_links' | 'erasures' | 'sessions') =>
      await db.selectFrom(table).where('account_id', '=', ana.id).selectAll().execute()
    t.same(await ofAna('provider_links'), [])
    t.same((await ofAna('erasures')).filter((each) => 'status' in each && each.status !== 'CANCELED'), [])
    t.same((await ofAna('sessions')).filter((each) => 'ended_at' in each && each.ended_at === null), [])
  }
})

t.test('a change of address links no provider that signs in meanwhile for longer than the change', async (t) => {
  for (let round = 0; round < 10; round++) {
    const ana = await givenAccount()
    const email = randomEmail()
    await ask(ana, email)
    const code = await codeMailedTo(email)
    identities.set('thief', { subject: email, email })
    const [changed] = await Promise.all([confirm(ana, code), post('/auth/provider-b', { identityToken: 'thief' })])
    if (changed.status === 200) t.match(await revert((await linkMailedTo(ana.email)).token), { status: 200 })
    else t.match(changed, { code: 'EMAIL_EXISTS' }, 'the provider has made an account of its own first')
    t.same(await db.selectFrom('provider_links').where('account_id', '=', ana.id).selectAll().execute(), [])
  }
})

t.test('until a change can no longer be taken back, nothing is deleted at once, and no copy is made', async (t) => {
  const ana = await givenAccount()
  const email = randomEmail()
  await change(ana, email)
  async function proveByCode (purpose: string, count: number) {
    await post('/account/proof/code', { purpose }, { as: ana })
    const code = await codeMailedTo(email, count)
    return (await post('/account/proof', { purpose, code }, { as: ana })).data.proof as string
  }
  const refused = { status: 409, code: 'EMAIL_CHANGED_RECENTLY', error: String }
  const proof = await proveByCode('DELETE', 2)
  t.match(await post('/account/deletion', { proof, immediately: true }, { as: ana }), refused)
  t.match(await post('/account/export', { proof: await proveByCode('EXPORT', 3) }, { as: ana }), refused)
  await post('/account/deletion/link', { email })
  const { token } = await linkMailedTo(email, 4)
  t.match(await post('/account/deletion/confirm', { token, immediately: true }), refused)

  const { expires_at: until } = await db.updateTable('email_reverts')
    .set({ expires_at: sql`now() + interval '15 days'` }).where('account_id', '=', ana.id)
    .returning('expires_at').executeTakeFirstOrThrow()
  const { data: { deletion } } = await post('/account/deletion/confirm', { token })
  t.equal(deletion.eraseAt, until.toISOString(), 'nor after a grace period that is shorter')
})

t.test('seven days after a change, a copy is made and a deletion is immediate again', async (t) => {
  const ana = await givenAccount()
  const email = randomEmail()
  await change(ana, email)
  await sql`update email_reverts set expires_at = now() where account_id = ${ana.id}`.execute(db)
  const { data: { proof } } = await post('/account/proof', { purpose: 'EXPORT', password }, { as: ana })
  t.match(await post('/account/export', { proof }, { as: ana }), { status: 202 })
  await post('/account/deletion/link', { email })
  const { token } = await linkMailedTo(email, 3)
  t.match(await post('/account/deletion/confirm', { token, immediately: true }), { status: 202 })
})

let hash: Promise<string> | undefined
const hashOf = async () => await (hash ??= app.deps.hashing.hash(password, 'any'))
