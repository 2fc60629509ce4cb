import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, password, randomEmail, testApp } from '../test/app.ts'

const { db, post, get, givenAccount, linkMailedTo, codeMailedTo, mailsTo, mail, login, canRefresh, publishedEvents } =
  await testApp(t)

const another = 'Other-Door-7'
const long = (length: number) => `Aa1${'x'.repeat(length - 3)}`
t.beforeEach(async () => {
  await db.deleteFrom('failed_password_attempts').execute()
})

t.test('set-initial-password', async (t) => {
  const set = async (account: { accessToken: string }, body: object) =>
    await post('/auth/set-initial-password', body, { as: account })

  t.test('sets the password of an account without one', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    t.strictSame(await set(account, { password, confirmPassword: password }), {
      status: 200,
      success: true,
      message: 'Your password is set'
    })
    t.match(await login(account.email), { status: 200 })
    t.strictSame((await publishedEvents(account.id))[1], {
      type: 'password.changed',
      accountId: account.id,
      how: 'INITIAL'
    })
    t.match(await set(account, { password }), {
      status: 409,
      success: false,
      code: 'PASSWORD_ALREADY_SET',
      error: String
    })
  })

  t.test('called 20 times concurrently sets one password', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    const { tally, results } = await inParallel(
      20,
      async (index) => await set(account, { password: `${another}${index}` })
    )
    t.strictSame(tally, { 200: 1, '409 PASSWORD_ALREADY_SET': 19 })
    t.match(
      await login(account.email, { password: `${another}${results.findIndex(({ status }) => status === 200)}` }),
      { status: 200 }
    )
    t.equal((await publishedEvents(account.id)).filter(({ type }) => type === 'password.changed').length, 1)
  })

  t.test('rejects a weak password and a different confirmation', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    const bad = [
      {},
      { password: 'Abcdef1' },
      { password: 'abcdefg1' },
      { password: 'ABCDEFG1' },
      { password: 'Abcdefgh' },
      { password: long(129) },
      { password, confirmPassword: another },
      { password, confirmPassword: '' }
    ]
    for (const body of bad) {
      t.match(await set(account, body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body).slice(0, 60))
    }
    t.match(await set(account, { password, confirmPassword: another }), { details: [{ field: 'confirmPassword' }] })
    t.match(await set(account, { password: long(128), confirmPassword: long(128) }), { status: 200 })
  })

  t.test('returns 404 for a deleted account and UNAUTHORIZED for every invalid token', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    await db.deleteFrom('accounts').where('id', '=', account.id).execute()
    t.match(await set(account, { password }), { status: 404, success: false, code: 'USER_NOT_FOUND' })
    t.match(await post('/auth/set-initial-password', { password }), { status: 401, code: 'UNAUTHORIZED' })
    t.match(await set({ accessToken: 'x.y.z' }, { password }), { status: 401, code: 'UNAUTHORIZED' })
  })
})

t.test('a forgotten password', async (t) => {
  const forgot = async (email: string) => await post('/auth/forgot-password', { email })
  const accepted = {
    status: 200,
    success: true,
    data: { message: 'If this address has a password, we have sent a link to it' }
  }
  const reset = async (email: string, token: string | null, body: object = {}) =>
    await post('/auth/reset-password', { email, token, password: another, ...body })
  const checkLink = async (
    email: string,
    token: string | null
  ) => (await get(`/auth/reset-password?${new URLSearchParams({ email, token: token ?? '' }).toString()}`))
  async function requestLink (account: { email: string }) {
    await forgot(account.email)
    return (await linkMailedTo(account.email)).token!
  }

  t.test('can be reset once with a mailed link, and every session ends', async (t) => {
    const account = await givenAccount()
    t.strictSame(await forgot(account.email.toUpperCase()), accepted)
    const link = await linkMailedTo(account.email)
    t.equal(link.url.origin, 'https://tandem.example')
    t.equal(link.email, account.email)
    const token = link.token
    t.match(token, /^[\w-]{43}$/)

    t.strictSame(await checkLink(account.email, token), { status: 200, success: true, data: { valid: true } })
    t.strictSame(await reset(account.email.toUpperCase(), token), {
      status: 200,
      success: true,
      data: { message: 'Your password has been changed. Please sign in.' }
    })
    t.strictSame(await checkLink(account.email, token), { status: 200, success: true, data: { valid: false } })
    t.notOk(await canRefresh(account))
    t.match(await login(account.email), { status: 401 })
    t.match(await login(account.email, { password: another }), { status: 200 })
    t.match(await reset(account.email, token), { status: 400, success: false, code: 'INVALID_TOKEN', error: String })
    t.match((await publishedEvents(account.id)).slice(1, 3), [{ type: 'sessions.ended' }, {
      type: 'password.changed',
      how: 'RESET'
    }])
  })

  t.test('can be checked for an address with an unencoded plus', async (t) => {
    const account = await givenAccount({ email: randomEmail().replace('@', '+gym@') })
    const token = await requestLink(account)
    t.match(await get(`/auth/reset-password?token=${token}&email=${account.email}`), {
      status: 200,
      data: { valid: true }
    })
    for (const twice of [`email=${account.email}&email=x`, '']) {
      t.match(await get(`/auth/reset-password?token=${token}&${twice}`), { status: 400, code: 'VALIDATION_ERROR' })
    }
  })

  t.test('is reset once by 20 concurrent uses of one link', async (t) => {
    const account = await givenAccount()
    const token = await requestLink(account)
    const { tally, results } = await inParallel(
      20,
      async (index) => await reset(account.email, token, { password: `${another}${index}` })
    )
    t.strictSame(tally, { 200: 1, '400 INVALID_TOKEN': 19 })
    t.match(
      await login(account.email, { password: `${another}${results.findIndex(({ status }) => status === 200)}` }),
      { status: 200 }
    )
  })

  t.test('is not reset by a wrong link, the link of another account, an older link, or after an hour', async (t) => {
    const account = await givenAccount()
    const first = await requestLink(account)
    await forgot(account.email)
    await mailsTo(account.email, 2)
    const second = (await linkMailedTo(account.email, 2)).token
    const other = await givenAccount()
    for (
      const [email, token] of [[account.email, first], [account.email, 'nonsense'], [other.email, second], [
        randomEmail(),
        second
      ]] as const
    ) {
      t.match(await reset(email, token), { status: 400, code: 'INVALID_TOKEN' })
      t.match(await checkLink(email, token), { data: { valid: false } })
    }
    const { expires_at: expires } = await db.selectFrom('password_resets').where('account_id', '=', account.id).select(
      'expires_at'
    ).executeTakeFirstOrThrow()
    t.ok(Math.abs(expires.getTime() - Date.now() - 3_600_000) < 60_000)
    await db.updateTable('password_resets').set({ expires_at: new Date() }).where('account_id', '=', account.id)
      .execute()
    t.match(await checkLink(account.email, second), { data: { valid: false } })
    t.match(await reset(account.email, second), { status: 400, code: 'INVALID_TOKEN' })
    t.ok(await canRefresh(account))
    await runHousekeeping(db)
    t.equal(
      (await db.selectFrom('password_resets').where('account_id', '=', account.id).selectAll().execute()).length,
      0
    )
  })

  t.test('is not reset with an incomplete link', async (t) => {
    const account = await givenAccount()
    const token = await requestLink(account)
    for (const body of [{ token: '' }, { email: 'ana' }]) {
      t.match(await reset(account.email, token, body), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.match(await get('/auth/reset-password?token=x'), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('clears the failed attempts when it is reset', async (t) => {
    const account = await givenAccount()
    for (let times = 0; times < 5; times++) await login(account.email, { password: 'Wrong-0ne' })
    await reset(account.email, await requestLink(account))
    t.match(await login(account.email, { password: another }), { status: 200 })
  })

  t.test('gets the same response for an unknown, a banned and a passwordless account, and no mail', async (t) => {
    const [passwordless, banned] = [await givenAccount({ hasPassword: false }), await givenAccount()]
    await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', banned.id).execute()
    const unknown = randomEmail()
    for (const email of [passwordless.email, banned.email, unknown]) t.strictSame(await forgot(email), accepted)
    while (await db.selectFrom('mail_requests').select('id').executeTakeFirst());
    for (const email of [passwordless.email, banned.email, unknown]) t.strictSame(mail.mails(email), [])
    t.match(await forgot('ana'), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('is kept after a reset when the address is verified later', async (t) => {
    const email = randomEmail()
    const { user } = await post('/auth/register', { email, password }, { from: '198.51.100.7' })
    await forgot(email)
    await mailsTo(email, 2)
    const token = (await linkMailedTo(email, 2)).token
    await reset(email, token)
    t.match(await login(email, { password: another }), { status: 403, code: 'EMAIL_NOT_VERIFIED' })
    await post('/auth/resend-verification', { email })
    t.match(await post('/auth/verify-email', { userId: user.id, code: await codeMailedTo(email, 3) }), { status: 200 })
    t.match(await login(email, { password: another }), { status: 200 })
  })
})

t.test('with the blocklist enabled, common passwords are rejected on every route but the one of a mailed link', async (t) => {
  const { db, deps, post, givenAccount, linkMailedTo, login } = await testApp(t, { passwordBlocklist: true })
  const account = await givenAccount()
  const newcomer = await givenAccount({ hasPassword: false })
  await post('/auth/forgot-password', { email: account.email })
  const token = (await linkMailedTo(account.email)).token
  const routes = {
    register: async (password: string) => await post('/auth/register', { email: randomEmail(), password }),
    'set-initial-password': async (password: string) =>
      await post('/auth/set-initial-password', { password }, { as: newcomer }),
    'change-password': async (newPassword: string) =>
      await post('/auth/change-password', { currentPassword: password, password: newPassword }, { as: account })
  }
  for (const [route, setPassword] of Object.entries(routes)) {
    for (const common of ['Password1', 'pASSWORD123', 'Trustno1', 'P@ssw0rd', 'Pass\uFF57ord1']) {
      t.match(
        await setPassword(common),
        { status: 400, success: false, code: 'VALIDATION_ERROR', error: /common/ },
        `${route} ${common}`
      )
    }
    t.match(await setPassword(`Wide-${route}-5ky`), { status: route === 'register' ? 201 : 200 }, route)
  }
  t.match(await post('/auth/reset-password', { email: account.email, token, password: 'password' }), { status: 200 })
  t.match(await login(account.email, { password: 'password' }), { status: 200 })
  t.match(
    await post('/auth/register', { email: randomEmail() }),
    { status: 201 },
    'an account without a password is not affected'
  )

  const old = await givenAccount()
  await db.updateTable('accounts').set({ password_hash: await deps.hashing.hash('Password1', old.email) }).where(
    'id',
    '=',
    old.id
  ).execute()
  t.match(
    await login(old.email, { password: 'Password1' }),
    { status: 200 },
    'an existing common password keeps working'
  )
})

t.test('without the blocklist, a common password that follows the rules is accepted', async (t) => {
  t.match(await post('/auth/register', { email: randomEmail(), password: 'Password123' }), { status: 201 })
})
