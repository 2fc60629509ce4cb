import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, password, someEmail, testApp } from '../test/app.ts'

const { db, post, get, givenAccount, linkMailedTo, codeMailedTo, mailsTo, mail, login, canRefresh, publishedEvents } = await testApp(t)

const another = 'Other-Door-7'
const long = (length: number) => `Aa1${'x'.repeat(length - 3)}`
t.beforeEach(async () => { await db.deleteFrom('wrong_passwords').execute() })

t.test('set-initial-password', async (t) => {
  const set = async (account: { accessToken: string }, body: object) => await post('/auth/set-initial-password', body, { as: account })

  t.test('gives a password to an account that has none', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    t.strictSame(await set(account, { password, confirmPassword: password }), { status: 200, success: true, message: 'Your password is set' })
    t.match(await login(account.email), { status: 200 })
    t.strictSame((await publishedEvents(account.id))[1], { type: 'password.changed', accountId: account.id, how: 'INITIAL' })
    t.match(await set(account, { password }), { status: 409, success: false, code: 'PASSWORD_ALREADY_SET', error: String })
  })

  t.test('20 times at once sets one', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    const { tally, results } = await inParallel(20, async (index) => await set(account, { password: `${another}${index}` }))
    t.strictSame(tally, { 200: 1, '409 PASSWORD_ALREADY_SET': 19 })
    t.match(await login(account.email, { password: `${another}${results.findIndex(({ status }) => status === 200)}` }), { status: 200 })
    t.equal((await publishedEvents(account.id)).filter(({ type }) => type === 'password.changed').length, 1)
  })

  t.test('refuses a weak or different one', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    const bad = [
      {}, { password: 'Abcdef1' }, { password: 'abcdefg1' }, { password: 'ABCDEFG1' }, { password: 'Abcdefgh' }, { password: long(129) },
      { password, confirmPassword: another }, { password, confirmPassword: '' }
    ]
    for (const body of bad) t.match(await set(account, body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body).slice(0, 60))
    t.match(await set(account, { password: long(128), confirmPassword: long(128) }), { status: 200 })
  })

  t.test('knows nobody whose account is gone, and answers every bad token with UNAUTHORIZED', async (t) => {
    const account = await givenAccount({ hasPassword: false })
    await db.deleteFrom('accounts').where('id', '=', account.id).execute()
    t.match(await set(account, { password }), { status: 404, success: false, code: 'USER_NOT_FOUND' })
    t.match(await post('/auth/set-initial-password', { password }), { status: 401, code: 'UNAUTHORIZED' })
    t.match(await set({ accessToken: 'x.y.z' }, { password }), { status: 401, code: 'UNAUTHORIZED' })
  })
})

t.test('a forgotten password', async (t) => {
  const forgot = async (email: string) => await post('/auth/forgot-password', { email })
  const asked = { status: 200, success: true, data: { message: 'If this address has a password, a link is on its way to it' } }
  const reset = async (email: string, token: string | null, body: object = {}) => await post('/auth/reset-password', { email, token, password: another, ...body })
  const isGood = async (email: string, token: string | null) => (await get(`/auth/reset-password?${new URLSearchParams({ email, token: token ?? '' }).toString()}`))
  async function givenLink (account: { email: string }) {
    await forgot(account.email)
    return (await linkMailedTo(account.email)).token!
  }

  t.test('is set anew by a mailed link, once, and every session ends', async (t) => {
    const account = await givenAccount()
    t.strictSame(await forgot(account.email.toUpperCase()), asked)
    const link = await linkMailedTo(account.email)
    t.equal(link.url.origin, 'https://tandem.example')
    t.equal(link.email, account.email)
    const token = link.token
    t.match(token, /^[\w-]{43}$/)

    t.strictSame(await isGood(account.email, token), { status: 200, success: true, data: { valid: true } })
    t.strictSame(await reset(account.email.toUpperCase(), token), { status: 200, success: true, data: { message: 'Your password is changed; please sign in' } })
    t.strictSame(await isGood(account.email, token), { status: 200, success: true, data: { valid: false } })
    t.notOk(await canRefresh(account))
    t.match(await login(account.email), { status: 401 })
    t.match(await login(account.email, { password: another }), { status: 200 })
    t.match(await reset(account.email, token), { status: 400, success: false, code: 'INVALID_TOKEN', error: String })
    t.match((await publishedEvents(account.id)).slice(1, 3), [{ type: 'sessions.ended' }, { type: 'password.changed', how: 'RESET' }])
  })

  t.test('is asked about as well with a plus in the address that was not encoded', async (t) => {
    const account = await givenAccount({ email: someEmail().replace('@', '+gym@') })
    const token = await givenLink(account)
    t.match(await get(`/auth/reset-password?token=${token}&email=${account.email}`), { status: 200, data: { valid: true } })
    for (const twice of [`email=${account.email}&email=x`, '']) t.match(await get(`/auth/reset-password?token=${token}&${twice}`), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('20 times at once by one link is set once', async (t) => {
    const account = await givenAccount()
    const token = await givenLink(account)
    const { tally, results } = await inParallel(20, async (index) => await reset(account.email, token, { password: `${another}${index}` }))
    t.strictSame(tally, { 200: 1, '400 INVALID_TOKEN': 19 })
    t.match(await login(account.email, { password: `${another}${results.findIndex(({ status }) => status === 200)}` }), { status: 200 })
  })

  t.test('is not set by a wrong link, one of somebody else, an older one, or after an hour', async (t) => {
    const account = await givenAccount()
    const first = await givenLink(account)
    await forgot(account.email)
    await mailsTo(account.email, 2)
    const second = (await linkMailedTo(account.email, 2)).token
    const other = await givenAccount()
    for (const [email, token] of [[account.email, first], [account.email, 'nonsense'], [other.email, second], [someEmail(), second]] as const) {
      t.match(await reset(email, token), { status: 400, code: 'INVALID_TOKEN' })
      t.match(await isGood(email, token), { data: { valid: false } })
    }
    const { expires_at: expires } = await db.selectFrom('password_resets').where('account_id', '=', account.id).select('expires_at').executeTakeFirstOrThrow()
    t.ok(Math.abs(expires.getTime() - Date.now() - 3_600_000) < 10_000)
    await db.updateTable('password_resets').set({ expires_at: new Date() }).where('account_id', '=', account.id).execute()
    t.match(await isGood(account.email, second), { data: { valid: false } })
    t.match(await reset(account.email, second), { status: 400, code: 'INVALID_TOKEN' })
    t.ok(await canRefresh(account))
    await runHousekeeping(db)
    t.equal((await db.selectFrom('password_resets').where('account_id', '=', account.id).selectAll().execute()).length, 0)
  })

  t.test('is not set without a whole link', async (t) => {
    const account = await givenAccount()
    const token = await givenLink(account)
    for (const body of [{ token: '' }, { email: 'ana' }]) t.match(await reset(account.email, token, body), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await get('/auth/reset-password?token=x'), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('ends the wait that it came from', async (t) => {
    const account = await givenAccount()
    for (let times = 0; times < 5; times++) await login(account.email, { password: 'Wrong-0ne' })
    await reset(account.email, await givenLink(account))
    t.match(await login(account.email, { password: another }), { status: 200 })
  })

  t.test('is asked for alike by who has an account, who has none and who has no password, and only the first gets a mail', async (t) => {
    const [passwordless, barred] = [await givenAccount({ hasPassword: false }), await givenAccount()]
    await db.updateTable('accounts').set({ barred_at: new Date() }).where('id', '=', barred.id).execute()
    const stranger = someEmail()
    for (const email of [passwordless.email, barred.email, stranger]) t.strictSame(await forgot(email), asked)
    while (await db.selectFrom('mail_requests').select('id').executeTakeFirst());
    for (const email of [passwordless.email, barred.email, stranger]) t.strictSame(mail.mails(email), [])
    t.match(await forgot('ana'), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('stays with who reset it, even if he verifies his address only afterwards', async (t) => {
    const email = someEmail()
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

t.test('the most common passwords are refused where the operator wants it, in whatever case, wherever one is set', async (t) => {
  const { db, deps, post, givenAccount, linkMailedTo, login } = await testApp(t, { passwordBlocklist: true })
  const account = await givenAccount()
  const newcomer = await givenAccount({ hasPassword: false })
  await post('/auth/forgot-password', { email: account.email })
  const token = (await linkMailedTo(account.email)).token
  const ways = {
    register: async (password: string) => await post('/auth/register', { email: someEmail(), password }),
    'set-initial-password': async (password: string) => await post('/auth/set-initial-password', { password }, { as: newcomer }),
    'change-password': async (newPassword: string) => await post('/auth/change-password', { currentPassword: password, password: newPassword }, { as: account }),
    'reset-password': async (password: string) => await post('/auth/reset-password', { email: account.email, token, password })
  }
  for (const [way, setPassword] of Object.entries(ways)) {
    for (const common of ['Password1', 'pASSWORD123', 'Trustno1', 'P@ssw0rd', 'Pass\uFF57ord1']) {
      t.match(await setPassword(common), { status: 400, success: false, code: 'VALIDATION_ERROR', error: /common/ }, `${way} ${common}`)
    }
    t.match(await setPassword(`Wide-${way}-5ky`), { status: way === 'register' ? 201 : 200 }, way)
  }
  t.match(await login(account.email, { password: 'Wide-reset-password-5ky' }), { status: 200 })
  t.match(await post('/auth/register', { email: someEmail() }), { status: 201 }, 'and no password is none of them')

  const old = await givenAccount()
  await db.updateTable('accounts').set({ password_hash: await deps.hashing.hash('Password1', old.email) }).where('id', '=', old.id).execute()
  t.match(await login(old.email, { password: 'Password1' }), { status: 200 }, 'whoever has one goes on with it')
})

t.test('unless the operator wants it, a common password that keeps the rules is taken', async (t) => {
  t.match(await post('/auth/register', { email: someEmail(), password: 'Password123' }), { status: 201 })
})

t.test('a crowd that wants to sign in at once is partly told to come back', async (t) => {
  const { tally } = await inParallel(120, async () => await login(someEmail()))
  t.ok(tally['503 SERVICE_UNAVAILABLE']! > 0)
  t.strictSame(Object.keys(tally).sort(), ['401 INVALID_CREDENTIALS', '503 SERVICE_UNAVAILABLE'])
})
