import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { decodeProtectedHeader, decodeJwt } from 'jose'
import { checkOperatorRoutes } from '@tandem/operator-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { runCommand } from '../operator/commands.ts'
import { testApp } from '../test/app.ts'
import { createPasskey } from '../test/passkey.ts'

const { app, asOperator, db, deps, post, send, get, mail, mailWithSubject, givenAccount } = await testApp(t)
const consoleUrl = deps.console.origin

const tokenIn = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''
const invite = async (role = 'MODERATOR', email = `${randomUUID()}@example.com`) => ({
  email,
  token: tokenIn(await runCommand(db, { consoleUrl }, ['staff', 'invite', email, role]) as string)
})
const passkey = (more = {}) => createPasskey({ ...deps.console, ...more })

/** @returns a function that ends the enrollment */
async function beginEnrollment (token: string, key = passkey()) {
  const { data: options } = await post('/operator/enrollment/options', { token })
  return async () => {
    const response = await post('/operator/enrollment', { token, response: key.create(options) })
    return { ...response, session: response.data?.session as string, key }
  }
}
async function enroll (token: string, key = passkey()) {
  const end = await beginEnrollment(token, key)
  return await end()
}
async function signIn (key: ReturnType<typeof passkey>) {
  const { data: options } = await post('/operator/sign-in/options')
  return await post('/operator/sign-in', { response: key.get(options) })
}
const tokenOf = async (session: string) => await post('/operator/tokens', { session })

type Signed = { session: string }
const headersOf = async ({ session }: Signed) => ({ authorization: `Bearer ${(await tokenOf(session)).data.token}` })
const confirm = async (id: string, operator: Signed) =>
  await post(`/operator/proposals/${id}/confirm`, {}, { headers: await headersOf(operator) })
const rowOf = async (email: string) =>
  await db.selectFrom('staff').where('email', '=', email).selectAll().executeTakeFirst()
const tokenMailedTo = async (email: string) => {
  const { text } = await mailWithSubject(email, /^Your invitation/)
  return tokenIn(/https:\S+/.exec(text)![0])
}
/** The only administrators, with passkeys of yesterday. */
async function givenAdmins (count: number) {
  await sql`update staff set disabled_at = now() where role = 'ADMIN'`.execute(db)
  const admins = await Promise.all(Array.from({ length: count }, async () => {
    const { email, token } = await invite('ADMIN')
    const { session, key } = await enroll(token)
    return { email, session, key, id: (await rowOf(email))!.id }
  }))
  await sql`update passkeys set created_at = now() - interval '25 hours'`.execute(db)
  return admins
}

t.test('an invited operator adds a passkey, and signs in with it', async (t) => {
  const { email, token } = await invite('ADMIN')
  const { status, session, key } = await enroll(token)
  t.equal(status, 200)
  const { data } = await tokenOf(session)
  t.match(data.staff, { email, role: 'ADMIN' })
  t.ok(data.staff.rights.includes('audit.read'))
  t.match(decodeProtectedHeader(data.token), { alg: 'ES256', typ: 'operator+jwt' })
  const { aud, exp = 0, iat = 0 } = decodeJwt(data.token)
  t.match({ aud, seconds: exp - iat }, { aud: 'tandem-operators', seconds: 60 })
  t.match(await get('/operator/staff', { headers: { authorization: `Bearer ${data.token}` } }), { status: 200 })
  t.match(await get('/auth/me', { headers: { authorization: `Bearer ${data.token}` } }), { status: 401 })

  const again = await signIn(key)
  t.equal(again.status, 200)
  t.not(again.data.session, session)
  t.match(await post('/operator/sign-out', { session }), { status: 200 })
  t.match(await tokenOf(session), { status: 401, code: 'SESSION_ENDED' })
  t.match(await tokenOf(again.data.session), { status: 200 })
  t.same(
    await db.selectFrom('staff_sessions').select('digest').where(sql<boolean>`digest = ${session}::bytea`).execute(),
    [],
    'only a digest is stored'
  )
})

t.test('an invitation works once, within a day', async (t) => {
  const { token } = await invite()
  const { data: options } = await post('/operator/enrollment/options', { token })
  t.equal((await post('/operator/enrollment', { token, response: passkey().create(options) })).status, 200)
  t.match(await post('/operator/enrollment/options', { token }), { status: 400, code: 'INVALID_INVITATION' })
  const late = await invite()
  await sql`update staff_invitations set expires_at = now()`.execute(db)
  t.match(await post('/operator/enrollment/options', { token: late.token }), { code: 'INVALID_INVITATION' })
  const [one, other] = [await invite(), await invite()]
  const { data: foreign } = await post('/operator/enrollment/options', { token: other.token })
  t.match(
    await post('/operator/enrollment', { token: one.token, response: passkey().create(foreign) }),
    { status: 401, code: 'INVALID_PASSKEY' },
    'a challenge belongs to one invitation'
  )
})

t.test('a passkey for another place, without verification or used twice is refused', async (t) => {
  for (const wrong of [{ origin: 'https://evil.example' }, { host: 'evil.example' }, { verifies: false }]) {
    t.match(await enroll((await invite()).token, passkey(wrong)), { status: 401, code: 'INVALID_PASSKEY' })
  }
  const { key } = await enroll((await invite()).token)
  const { data: options } = await post('/operator/sign-in/options')
  const response = key.get(options)
  t.match(await post('/operator/sign-in', { response }), { status: 200 })
  t.match(await post('/operator/sign-in', { response }), { status: 401, code: 'INVALID_PASSKEY' })
  t.match(await signIn(passkey()), { status: 401, code: 'INVALID_PASSKEY' }, 'an unknown passkey')
  await post('/operator/sign-in/options')
  t.match(await post('/operator/sign-in', { response: { id: 'x', response: { clientDataJSON: 'x' } } }), {
    status: 401
  })
})

t.test('options that nobody uses are deleted after five minutes', async (t) => {
  const { data: { challenge } } = await post('/operator/sign-in/options')
  const isStored = async () =>
    (await db.selectFrom('passkey_challenges').where('challenge', '=', challenge).select('purpose').execute()).length
  await sql`update passkey_challenges set expires_at = expires_at - interval '4 minutes'`.execute(db)
  await runHousekeeping(db)
  t.equal(await isStored(), 1)
  await sql`update passkey_challenges set expires_at = expires_at - interval '1 minute'`.execute(db)
  await runHousekeeping(db)
  t.equal(await isStored(), 0)
})

t.test('a session lasts eight hours, and 20 minutes without use', async (t) => {
  const { session } = await enroll((await invite()).token)
  await sql`update staff_sessions set last_used_at = now() - interval '19 minutes'`.execute(db)
  const { status, data } = await tokenOf(session)
  t.equal(status, 200)
  t.notOk(data.staff.rights.includes('audit.read'), 'a moderator has fewer rights')
  await sql`update staff_sessions set last_used_at = now() - interval '21 minutes'`.execute(db)
  t.match(await tokenOf(session), { status: 401, code: 'SESSION_ENDED' })
  await sql`update staff_sessions set last_used_at = now(), created_at = now() - interval '481 minutes'`.execute(db)
  t.match(await tokenOf(session), { status: 401, code: 'SESSION_ENDED' })
})

t.test('what needs a passkey is refused ten minutes later, until it is used again', async (t) => {
  const { session, key } = await enroll((await invite('ADMIN')).token)
  await sql`update staff_sessions set proved_at = now() - interval '11 minutes'`.execute(db)
  const inviteOther = async () => {
    const { data: { token } } = await tokenOf(session)
    const headers = { authorization: `Bearer ${token}` }
    return await post('/operator/staff', { email: `${randomUUID()}@example.com`, role: 'SUPPORT' }, { headers })
  }
  t.match(await inviteOther(), { status: 403, code: 'PROOF_REQUIRED' })
  const { data: options } = await post('/operator/proof/options', { session })
  const other = await enroll((await invite()).token)
  t.match(
    await post('/operator/proof', { session: other.session, response: key.get(options) }),
    { status: 401, code: 'INVALID_PASSKEY' }
  )
  const { data: mine } = await post('/operator/proof/options', { session })
  t.match(await post('/operator/proof', { session, response: key.get(mine) }), { status: 200 })
  t.match(await inviteOther(), { status: 200 })
})

t.test('an administrator changes and removes others, but never the last administrator', async (t) => {
  const { email, token } = await invite('MODERATOR')
  const { session, key } = await enroll(token)
  const { data: { staff: { id } } } = await tokenOf(session)
  const headers = await asOperator('ADMIN')
  t.match(await send('PUT', `/operator/staff/${id}`, { body: { role: 'SUPPORT' }, headers }), { status: 200 })
  t.match(await tokenOf(session), { status: 401 }, 'a changed role ends the sessions')
  t.equal((await signIn(key)).status, 200)
  t.match(await send('DELETE', `/operator/staff/${id}`, { headers }), { status: 200 })
  t.match(await signIn(key), { status: 401, code: 'INVALID_PASSKEY' })
  t.match(await post(`/operator/staff/${id}/invitation`, {}, { headers }), { status: 404, code: 'NOT_FOUND' })
  t.match((await get('/operator/staff', { headers })).data.staff.find((each: { id: string }) => each.id === id), {
    disabledAt: String
  })

  const own = await asOperator('ADMIN', { id })
  t.match(await send('PUT', `/operator/staff/${id}`, { body: { role: 'ADMIN' }, headers: own }), { status: 403 })
  for (const role of ['SUPPORT', 'ADMIN']) {
    const again = { email: email.toUpperCase(), role }
    t.match(await post('/operator/staff', again, { headers }), { status: 409, code: 'STAFF_EXISTS' })
  }
  const [last] = await givenAdmins(1)
  t.match(await send('DELETE', `/operator/staff/${last!.id}`, { headers }), { status: 409, code: 'LAST_ADMIN' })
})

t.test('the link of an invitation is mailed to the invited alone, and all administrators hear of it', async (t) => {
  const [ana, ben] = await givenAdmins(2)
  const email = `cleo-${randomUUID()}@example.com`
  const answer = await post('/operator/staff', { email: email.toUpperCase(), role: 'MODERATOR' }, {
    headers: await headersOf(ana!)
  })
  t.match(answer, { status: 200 })
  t.notMatch(JSON.stringify(answer), 'token', 'who invites does not see the link')
  const { key, status } = await enroll(await tokenMailedTo(email))
  t.equal(status, 200)
  for (const admin of [ana!, ben!]) {
    for (const subject of ['was invited', 'has a new passkey']) {
      const { text } = await mailWithSubject(admin.email, new RegExp(`^${email} ${subject}`))
      t.notMatch(text, 'token=')
    }
  }
  t.match(await mailWithSubject(email, /has a new passkey/), { to: [email] })
  t.equal((await signIn(key)).status, 200)
})

t.test('nobody becomes two administrators: a second self confirms nothing, and cannot be made alone', async (t) => {
  const [ana, ben] = await givenAdmins(2)
  const email = `puppet-${randomUUID()}@example.com`
  const proposed = await post('/operator/staff', { email, role: 'ADMIN' }, { headers: await headersOf(ana!) })
  t.match(proposed, { status: 202, data: { proposalId: String } })
  const { proposalId } = proposed.data
  t.match(await post('/operator/staff', { email, role: 'ADMIN' }, { headers: await headersOf(ana!) }), {
    status: 409,
    code: 'PROPOSAL_EXISTS'
  })
  t.match(await confirm(proposalId, ana!), { status: 403, code: 'FORBIDDEN' })
  t.match(await rowOf(email), undefined, 'nobody was invited')
  t.same(mail.mails(email), [])

  // A moderator needs nobody else, but becomes no administrator without.
  const moderator = `moderator-${randomUUID()}@example.com`
  await post('/operator/staff', { email: moderator, role: 'MODERATOR' }, { headers: await headersOf(ana!) })
  await enroll(await tokenMailedTo(moderator))
  const { id } = (await rowOf(moderator))!
  const promote = { body: { role: 'ADMIN' }, headers: await headersOf(ana!) }
  const promotion = await send('PUT', `/operator/staff/${id}`, promote)
  t.equal(promotion.status, 202)
  t.match(await rowOf(moderator), { role: 'MODERATOR' })

  const confirmed = await Promise.all(Array.from({ length: 5 }, async () => await confirm(proposalId, ben!)))
  t.equal(confirmed.filter(({ status }) => status === 200).length, 1, 'of many confirmations at once, one counts')
  t.equal(confirmed.filter(({ status }) => status === 404).length, 4)
  t.equal(mail.mails(email).length <= 1, true)
  const puppet = await enroll(await tokenMailedTo(email))
  const { data: { staff } } = await tokenOf(puppet.session)
  t.match(await rowOf(email), { role: 'ADMIN', invited_by: [ana!.id] })

  t.match(await confirm(promotion.data.proposalId, { session: puppet.session }), { code: 'NOT_INDEPENDENT' })
  await sql`update passkeys set created_at = now() - interval '25 hours'`.execute(db)
  t.match(await confirm(promotion.data.proposalId, { session: puppet.session }), { code: 'NOT_INDEPENDENT' })
  const { data: { proposalId: removal } } = await send('DELETE', `/operator/staff/${ben!.id}`, {
    headers: await headersOf({ session: puppet.session })
  })
  t.match(await confirm(removal, ana!), { code: 'NOT_INDEPENDENT' }, 'nor who invited the proposer')
  t.match(await rowOf(ben!.email), { disabled_at: null })
  t.match(await confirm(removal, { session: puppet.session }), { code: 'FORBIDDEN' })
  t.equal(staff.role, 'ADMIN')
})

t.test('a passkey confirms nothing on its first day', async (t) => {
  const [ana, ben] = await givenAdmins(2)
  const { data: { proposalId } } = await send('PUT', `/operator/staff/${ben!.id}`, {
    body: { role: 'MODERATOR' },
    headers: await headersOf(ana!)
  })
  await sql`update passkeys set created_at = now() - interval '23 hours' where staff_id = ${ben!.id}`.execute(db)
  t.match(await confirm(proposalId, ben!), { status: 403, code: 'PASSKEY_TOO_NEW' })
  t.match(await rowOf(ben!.email), { role: 'ADMIN' })
  await sql`update passkeys set created_at = now() - interval '24 hours' where staff_id = ${ben!.id}`.execute(db)
  t.match(await confirm(proposalId, ben!), { status: 200 }, 'they agree to have another role themselves')
  t.match(await rowOf(ben!.email), { role: 'MODERATOR' })
})

t.test('a lone administrator makes one more without a second, and never two at once', async (t) => {
  const [ana] = await givenAdmins(1)
  const headers = await headersOf(ana!)
  const answers = await Promise.all(
    Array.from(
      { length: 5 },
      async () => await post('/operator/staff', { email: `${randomUUID()}@example.com`, role: 'ADMIN' }, { headers })
    )
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  t.equal(answers.filter(({ status }) => status === 202).length, 4)
  const admins = await db.selectFrom('staff').where('role', '=', 'ADMIN').where('disabled_at', 'is', null)
    .select('email').execute()
  t.equal(admins.length, 2)
  const invited = (await rowOf(admins.find(({ email }) => email !== ana!.email)!.email))!
  t.match(
    await send('DELETE', `/operator/staff/${invited.id}`, { headers }),
    { status: 200 },
    'an invitation to a wrong address is taken back, as long as nobody has used it'
  )
})

t.test('a new link for a lost passkey takes two, and the old passkey works until it is used', async (t) => {
  const [ana, ben, cleo] = await givenAdmins(3)
  const { data: { proposalId } } = await post(`/operator/staff/${cleo!.id}/invitation`, {}, {
    headers: await headersOf(ana!)
  })
  t.same(mail.mails(cleo!.email).filter(({ subject }) => /invitation/.test(subject)), [])
  t.equal((await confirm(proposalId, ben!)).status, 200)
  const token = await tokenMailedTo(cleo!.email)
  t.match(await mailWithSubject(ben!.email, new RegExp(`^${cleo!.email} was invited`)), { to: [ben!.email] })
  t.equal((await signIn(cleo!.key)).status, 200, 'nothing has ended yet')
  t.equal((await tokenOf(cleo!.session)).status, 200)

  const begun = [await beginEnrollment(token), await beginEnrollment(token)]
  const accepted = await Promise.all(begun.map(async (end) => await end()))
  t.same(accepted.map(({ status }) => status).toSorted((a, b) => a - b), [200, 400], 'of two at once, one replaces it')
  t.match(await signIn(cleo!.key), { status: 401, code: 'INVALID_PASSKEY' })
  t.match(await tokenOf(cleo!.session), { status: 401, code: 'SESSION_ENDED' })
  t.match(await rowOf(cleo!.email), { invited_by: [ana!.id] })
  await runCommand(db, { consoleUrl }, ['staff', 'reinvite', cleo!.email])
  t.match(await rowOf(cleo!.email), { invited_by: [] }, 'an invitation in the shell has no inviter')
})

t.test('the audit names operators who were invited, or got a role or a passkey, and who did it', async (t) => {
  const [ana, ben] = await givenAdmins(2)
  const email = `${randomUUID()}@example.com`
  const headers = async (operator: Signed) => ({ headers: await headersOf(operator) })
  await post('/operator/staff', { email, role: 'MODERATOR' }, await headers(ana!))
  await enroll(await tokenMailedTo(email))
  const { id } = (await rowOf(email))!
  const set = await send('PUT', `/operator/staff/${id}`, { body: { role: 'ADMIN' }, ...await headers(ana!) })
  await confirm(set.data.proposalId, ben!)
  const again = await post(`/operator/staff/${id}/invitation`, {}, await headers(ben!))
  t.equal(again.status, 202)
  await post(`/operator/staff/${id}/invitation`, {}, await headers(ben!))
  await send('PUT', `/operator/staff/${id}`, { body: { role: 'NOBODY' }, ...await headers(ana!) })

  const entries = await db.selectFrom('audit_entries').where('subject', 'in', [email, id])
    .where('action', 'not like', '%/operator/%').select(['action', 'staff_id']).orderBy('number').execute()
  t.same(entries.map(({ action, staff_id }) => [action, staff_id]), [
    ['STAFF INVITE MODERATOR', ana!.id],
    ['NEW PASSKEY', id],
    ['PROPOSAL STAFF SET_ROLE ADMIN', ana!.id],
    ['STAFF SET_ROLE ADMIN, CONFIRMED', ben!.id],
    ['PROPOSAL STAFF INVITE_AGAIN', ben!.id]
  ])
})

t.test('the first administrator is invited until somebody has a passkey', async (t) => {
  const inviteFirst = async () =>
    await runCommand(db, { consoleUrl }, ['staff', 'invite-first', 'first@example.com']) as string
  t.match(await inviteFirst(), 'There is an operator with a passkey already')
  const passkeys = await db.deleteFrom('passkeys').returningAll().execute()
  const before = tokenIn(await inviteFirst())
  const { session } = await enroll(tokenIn(await inviteFirst()))
  t.match((await tokenOf(session)).data.staff, { email: 'first@example.com', role: 'ADMIN' })
  t.match(await post('/operator/enrollment/options', { token: before }), { code: 'INVALID_INVITATION' })
  t.match(await inviteFirst(), 'already')
  await db.insertInto('passkeys').values(passkeys).execute()
})

t.test('operators are managed in the shell too', async (t) => {
  const { email } = await invite('ADMIN')
  const operate = async (...args: string[]) => await runCommand(db, { consoleUrl }, args)
  t.match(await operate('staff', 'reinvite', email), /enroll#token=/)
  t.match((await operate('staff', 'list') as { email: string }[]).some((each) => each.email === email), true)
  t.match(await operate('staff', 'remove', email), /no operator any more/)
  await t.rejects(operate('staff', 'invite', email, 'KING'))
  await t.rejects(operate('staff', 'remove', 'nobody@example.com'), { message: 'NOT_FOUND.staff' })
})

t.test('nothing below /operator is open', async (t) => {
  const { accessToken } = await givenAccount()
  await checkOperatorRoutes(t, app, { asOperator, asAccount: () => ({ authorization: `Bearer ${accessToken}` }) })
})
