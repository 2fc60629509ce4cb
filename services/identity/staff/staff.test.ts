import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { decodeProtectedHeader, decodeJwt } from 'jose'
import { checkOperatorRoutes } from '@tandem/operator-kit/testing'
import { runCommand } from '../operator/commands.ts'
import { testApp } from '../test/app.ts'
import { createPasskey } from '../test/passkey.ts'

const { app, asOperator, db, deps, post, send, get, givenAccount } = await testApp(t)
const consoleUrl = deps.console.origin

const tokenIn = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''
const invite = async (role = 'MODERATOR', email = `${randomUUID()}@example.com`) => ({
  email,
  token: tokenIn(await runCommand(db, { consoleUrl }, ['staff', 'invite', email, role]) as string)
})
const passkey = (more = {}) => createPasskey({ ...deps.console, ...more })

async function enroll (token: string, key = passkey()) {
  const { data: options } = await post('/operator/enrollment/options', { token })
  const response = await post('/operator/enrollment', { token, response: key.create(options) })
  return { ...response, session: response.data?.session as string, key }
}
async function signIn (key: ReturnType<typeof passkey>) {
  const { data: options } = await post('/operator/sign-in/options')
  return await post('/operator/sign-in', { response: key.get(options) })
}
const tokenOf = async (session: string) => await post('/operator/tokens', { session })

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
  t.match(await inviteOther(), { status: 201, data: { url: /^https:\/\/console\.example\/enroll#token=/ } })
})

t.test('an administrator changes, invites again and removes others, but never the last one', async (t) => {
  const { token } = await invite('MODERATOR')
  const { session, key } = await enroll(token)
  const { data: { staff: { id } } } = await tokenOf(session)
  const headers = await asOperator('ADMIN')
  t.match(await send('PUT', `/operator/staff/${id}`, { body: { role: 'SUPPORT' }, headers }), { status: 200 })
  t.match(await tokenOf(session), { status: 401 }, 'a changed role ends the sessions')
  t.equal((await signIn(key)).status, 200)
  const { data: { url } } = await post(`/operator/staff/${id}/invitation`, {}, { headers })
  t.match(await signIn(key), { status: 401, code: 'INVALID_PASSKEY' }, 'the lost passkey is void')
  t.equal((await enroll(tokenIn(url))).status, 200)
  t.match(await send('DELETE', `/operator/staff/${id}`, { headers }), { status: 200 })
  t.match(await post(`/operator/staff/${id}/invitation`, {}, { headers }), { status: 404, code: 'NOT_FOUND' })
  t.match((await get('/operator/staff', { headers })).data.staff.find((each: { id: string }) => each.id === id), {
    disabledAt: String
  })

  const own = await asOperator('ADMIN', { id })
  t.match(await send('PUT', `/operator/staff/${id}`, { body: { role: 'ADMIN' }, headers: own }), { status: 403 })
  t.match(
    await post('/operator/staff', { email: (await invite()).email, role: 'ADMIN' }, { headers }),
    { status: 409, code: 'STAFF_EXISTS' }
  )
  await sql`update staff set disabled_at = now() where role = 'ADMIN'`.execute(db)
  const last = await enroll((await invite('ADMIN')).token)
  const { data: { staff } } = await tokenOf(last.session)
  t.match(await send('DELETE', `/operator/staff/${staff.id}`, { headers }), { status: 409, code: 'LAST_ADMIN' })
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
  await t.rejects(operate('staff', 'remove', 'nobody@example.com'), { message: 'There is no such operator' })
})

t.test('nothing below /operator is open', async (t) => {
  const { accessToken } = await givenAccount()
  await checkOperatorRoutes(t, app, { asOperator, asAccount: () => ({ authorization: `Bearer ${accessToken}` }) })
})
