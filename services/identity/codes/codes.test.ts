import t from 'tap'
import { inParallel, password, randomEmail, testApp, wrongCode } from '../test/app.ts'

const { db, post, givenAccount, codeMailedTo, linkMailedTo, mail, canRefresh, login } = await testApp(t)

const home = { from: '203.0.113.7' }
const away = { from: '192.0.2.10' }
/** One of many networks of a stranger. */
const elsewhere = (number: number) => ({ from: `198.51.${number}.1` })
const rejected = { status: 400, success: false, code: 'INVALID_CODE' }
const expired = { status: 400, success: false, code: 'INVALID_TOKEN' }

const enter = async (email: string, code: string, request = home) =>
  await post('/auth/login-code', { email, code }, request)
/** Requests a sign-in code. @returns it, and the token of its link */
async function request (email: string, from = home) {
  const count = mail.mails(email).length + 1
  await post('/auth/request-code', { email }, from)
  return { code: await codeMailedTo(email, count), token: (await linkMailedTo(email, count)).token ?? '' }
}
const countWrong = async (accountId: string) =>
  (await db.selectFrom('wrong_codes').where('account_id', '=', accountId).select('id').execute()).length
/** As if these wrong codes had been entered. */
const givenWrongCodes = async (accountId: string, count: number, network: string, isKnown = false) =>
  await db.insertInto('wrong_codes')
    .values(
      Array.from({ length: count }, () => ({
        account_id: accountId,
        code_digest: Buffer.from('an earlier code'),
        network,
        is_known: isKnown
      }))
    )
    .execute()

t.test('wrong codes of strangers keep the owner out neither at home nor where the code was requested', async (t) => {
  for (const place of [home, away]) {
    const { id, email } = await givenAccount({ hasPassword: false })
    const { code } = await request(email, place)
    const { tally } = await inParallel(30, async (number) => await enter(email, wrongCode(code), elsewhere(number)))
    t.strictSame(tally, { '400 INVALID_CODE': 30 })
    t.equal(await countWrong(id), 5, 'all other networks share five attempts')
    t.match(await enter(email, code, elsewhere(99)), rejected, 'and the correct code is rejected there')
    await givenWrongCodes(id, 15, '')
    t.match(await enter(email, code, place), { status: 200, user: { id } })
  }
})

t.test('a known network has five attempts of its own for a code that somebody else requested', async (t) => {
  const { id, email } = await givenAccount()
  const { code } = await request(email, elsewhere(1))
  for (let times = 0; times < 6; times++) await enter(email, wrongCode(code), elsewhere(1))
  t.equal(await countWrong(id), 5)
  const { tally } = await inParallel(10, async () => await enter(email, wrongCode(code), home))
  t.strictSame(tally, { '400 INVALID_CODE': 10 })
  t.equal(await countWrong(id), 10)
  t.match(await enter(email, code, home), rejected)
  const next = await request(email, elsewhere(1))
  t.match(await enter(email, next.code, home), { status: 200 }, 'and again for the next code')
})

t.test('a correct code does not count, and a wrong one counts for a day', async (t) => {
  const { id, email } = await givenAccount({ hasPassword: false })
  for (let times = 0; times < 3; times++) {
    const { code } = await request(email)
    t.match(await enter(email, code), { status: 200 })
  }
  t.equal(await countWrong(id), 0)

  const other = await givenAccount()
  const { code } = await request(other.email, away)
  await givenWrongCodes(other.id, 20, '203.0.113.0/24', true)
  t.match(await enter(other.email, code), rejected, 'twenty for one network')
  await db.updateTable('wrong_codes').set({ entered_at: new Date(Date.now() - 24 * 3_600_000 - 1) })
    .where('account_id', '=', other.id).execute()
  t.match(await enter(other.email, code), { status: 200 })
})

t.test('forty wrong codes from networks that the account does not know leave only the link, and known ones', async (t) => {
  const { id, email } = await givenAccount({ hasPassword: false })
  const { code, token } = await request(email, away)
  await givenWrongCodes(id, 20, '')
  for (let number = 0; number < 4; number++) await givenWrongCodes(id, 5, `198.51.${number}.0/24`)
  t.match(await enter(email, code, away), rejected)
  const signedIn = await post('/auth/login-link', { token, platform: 'ios' }, away)
  t.match(signedIn, { status: 200, success: true, expiresIn: 900, user: { id } })
  t.ok(await canRefresh(signedIn))
  const next = await request(email, elsewhere(1))
  t.match(await enter(email, next.code, home), { status: 200 })
})

t.test('wrong codes of a registrant who is not verified count together, also from networks that they signed in from', async (t) => {
  const { id, email } = await givenAccount({ verified: false })
  const { code } = await request(email, away)
  for (let times = 0; times < 6; times++) await enter(email, wrongCode(code), home)
  t.strictSame(
    await db.selectFrom('wrong_codes').where('account_id', '=', id).select(['network', 'is_known']).distinct()
      .execute(),
    [{ network: '', is_known: false }]
  )
})

t.test('the link of a sign-in code', async (t) => {
  const follow = async (token: string, from = away) => await post('/auth/login-link', { token }, from)

  t.test('signs in once, of twenty uses at once too, and ends the code', async (t) => {
    const { email } = await givenAccount()
    const { code, token } = await request(email)
    const { tally } = await inParallel(20, async () => await follow(token))
    t.strictSame(tally, { 200: 1, '400 INVALID_TOKEN': 19 })
    t.match(await enter(email, code), rejected)
  })

  t.test('stays valid when somebody else requests a newer code, and ends when a code is used', async (t) => {
    const { email } = await givenAccount()
    const first = await request(email)
    const second = await request(email, elsewhere(1))
    t.match(await follow(first.token), { status: 200 })
    t.match(await follow(second.token), expired)
    const third = await request(email)
    t.match(await enter(email, third.code), { status: 200 })
    t.match(await follow(third.token), expired)
  })

  t.test('expires with its code, is for its purpose only, and not for a banned account', async (t) => {
    const { id, email } = await givenAccount()
    const { token } = await request(email)
    t.match(await post('/auth/verify-link', { token }), expired)
    t.match(await follow('a'.repeat(43)), expired)
    await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', id).execute()
    t.match(await follow(token), expired)
    t.match(await post('/auth/login-link/network', { token }), expired)
    await db.updateTable('accounts').set({ banned_at: null }).where('id', '=', id).execute()
    const link = await db.selectFrom('code_links').where('account_id', '=', id).select('expires_at')
      .executeTakeFirstOrThrow()
    t.ok(Math.abs(link.expires_at.getTime() - Date.now() - 600_000) < 60_000)
    await db.updateTable('code_links').set({ expires_at: new Date() }).where('account_id', '=', id).execute()
    t.match(await follow(token), expired)
  })

  t.test('verifies the address and revokes the access of the registrant', async (t) => {
    for (const route of ['/auth/login-link', '/auth/login-link/network']) {
      const registrant = await givenAccount({ verified: false })
      const { token } = await request(registrant.email, away)
      t.match(await post(route, { token }, away), { status: 200 })
      t.notOk(await canRefresh(registrant), route)
      t.match(await login(registrant.email), { status: 401, code: 'INVALID_CREDENTIALS' })
    }
  })

  t.test('lets a network enter codes again, once', async (t) => {
    const { id, email } = await givenAccount({ hasPassword: false })
    const { code, token } = await request(email, elsewhere(1))
    await givenWrongCodes(id, 40, '')
    t.match(await enter(email, code, away), rejected)
    t.match(await post('/auth/login-link/network', { token }, away), { status: 200, success: true, message: String })
    t.match(await post('/auth/login-link/network', { token }, elsewhere(2)), expired)
    t.match(await enter(email, code, elsewhere(2)), rejected)
    t.match(await enter(email, code, away), { status: 200 })
  })
})

t.test('the code and the link of a registration', async (t) => {
  async function register () {
    const email = randomEmail()
    const { user, ...tokens } = await post('/auth/register', { email, password }, home)
    return {
      email,
      userId: user.id as string,
      refreshToken: tokens.refreshToken as string,
      code: await codeMailedTo(email),
      token: (await linkMailedTo(email)).token ?? ''
    }
  }
  const verify = async (userId: string, code: string, from = home) =>
    await post('/auth/verify-email', { userId, code }, from)

  t.test('are accepted after wrong codes of strangers', async (t) => {
    const { userId, code } = await register()
    for (let number = 0; number < 6; number++) await verify(userId, wrongCode(code), elsewhere(number))
    await givenWrongCodes(userId, 15, '')
    t.match(await verify(userId, code, away), rejected)
    t.match(await verify(userId, code), { status: 200, isNewUser: true })
  })

  t.test('the link verifies once, and keeps the access of the registrant only in their network', async (t) => {
    for (const [from, keeps] of [[home, true], [away, false]] as const) {
      const { userId, token, ...tokens } = await register()
      await givenWrongCodes(userId, 40, '')
      const { tally } = await inParallel(10, async () => await post('/auth/verify-link', { token }, from))
      t.strictSame(tally, { 200: 1, '400 INVALID_TOKEN': 9 })
      t.equal(await canRefresh(tokens), keeps)
    }
  })
})
