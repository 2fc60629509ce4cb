import t from 'tap'
import { inParallel, password, someEmail, testApp } from '../test/app.ts'

const { db, post, get, givenAccount, codeMailedTo, mailsTo, login, canRefresh, publishedEvents, redis, mail } = await testApp(t)

const isTokens = { accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/, refreshToken: /^[\w-]{43}$/, expiresIn: 900 }

t.test('check-email', async (t) => {
  const check = async (email: unknown) => await post('/auth/check-email', { email })

  t.test('sends an unknown address to register', async (t) => {
    t.strictSame(await check(someEmail()), { status: 200, success: true, exists: false, method: 'register', hasProviderA: false, hasProviderB: false })
  })

  t.test('names the way in of each kind of account', async (t) => {
    const of = async (account: Parameters<typeof givenAccount>[0]) => await check((await givenAccount(account)).email)
    const known = { status: 200, success: true, exists: true, isVerified: true }
    t.strictSame(await of({}), { ...known, method: 'credentials', hasProviderA: false, hasProviderB: false })
    t.strictSame(await of({ hasPassword: false, provider: 'PROVIDER_A' }), { ...known, method: 'provider_a', hasProviderA: true, hasProviderB: false })
    t.strictSame(await of({ hasPassword: false, provider: 'PROVIDER_B' }), { ...known, method: 'provider_b', hasProviderA: false, hasProviderB: true })
    t.strictSame(await of({ provider: 'PROVIDER_A' }), { ...known, method: 'credentials', hasProviderA: true, hasProviderB: false })
    t.strictSame(await of({ hasPassword: false }), { ...known, method: 'credentials', hasProviderA: false, hasProviderB: false })

    const both = await givenAccount({ hasPassword: false, provider: 'PROVIDER_A' })
    await db.insertInto('provider_links').values({ provider: 'PROVIDER_B', subject: 'both', account_id: both.id }).execute()
    t.strictSame(await check(both.email), { ...known, method: 'provider_a', hasProviderA: true, hasProviderB: true })
  })

  t.test('tells the id of an account that is not verified', async (t) => {
    const { id, email } = await givenAccount({ verified: false, hasPassword: false })
    t.strictSame(await check(` ${email.toUpperCase()} `), {
      status: 200, success: true, exists: true, method: 'credentials', hasProviderA: false, hasProviderB: false, isVerified: false, userId: id
    })
  })

  t.test('refuses what is no address with INVALID_EMAIL', async (t) => {
    for (const email of ['ana', 'ana@', '@example.com', 'a b@example.com', '', ' ', 42, null, undefined, 'ana\0@example.com', `${'a'.repeat(243)}@example.com`]) {
      t.match(await check(email), { status: 400, success: false, code: 'INVALID_EMAIL', error: String }, String(email))
    }
    t.match(await check(`${'a'.repeat(242)}@example.com`), { status: 200 }, '254 characters')
  })
})

t.test('register', async (t) => {
  t.test('makes an account, signs it in and mails it a code', async (t) => {
    const email = someEmail()
    const answer = await post('/auth/register', { email: email.toUpperCase(), password, name: ' Ana Putri ', platform: 'ios', deviceInfo: 'iPhone 17', appVersion: '1.0' })
    t.match(answer, isTokens)
    t.strictSame({ ...answer, accessToken: '', refreshToken: '' }, {
      status: 201,
      success: true,
      accessToken: '',
      refreshToken: '',
      expiresIn: 900,
      requiresEmailVerification: true,
      user: {
        id: answer.user.id,
        name: 'Ana Putri',
        email,
        image: null,
        role: 'USER',
        emailVerified: false,
        createdAt: answer.user.createdAt,
        profile: {
          gender: null,
          birthDate: null,
          height: null,
          heightUnit: 'cm',
          weight: null,
          weightUnit: 'kg',
          fitnessGoal: null,
          onboardingCompleted: false,
          onboardingStep: 0,
          experience: 'BEGINNER',
          timezone: 'Asia/Jakarta'
        },
        nutritionGoal: null
      }
    })
    t.match(answer.user.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.match(await get('/auth/sessions', { as: answer }), { status: 200, data: { sessions: [{ platform: 'ios', deviceInfo: 'iPhone 17', appVersion: '1.0' }] } })
    t.ok(await canRefresh(answer))
    t.match(await codeMailedTo(email), /^\d{6}$/)

    const { id } = answer.user
    t.strictSame(await publishedEvents(id), [
      { type: 'account.registered', accountId: id, name: 'Ana Putri', usernameSeed: 'user', locale: 'en', image: null },
      { type: 'session.started', accountId: id, sessionId: (await publishedEvents(id))[1]?.sessionId, method: 'REGISTRATION', newDevice: false, deviceName: null, platform: 'ios' }
    ])
  })

  t.test('needs nothing but an address', async (t) => {
    const email = someEmail()
    const { status, user } = await post('/auth/register', { email })
    t.match({ status, name: user.name }, { status: 201, name: /^[A-Z][a-z]+ [A-Z][a-z]+$/ })
    t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' }, 'and without a password none is right')
  })

  t.test('gives a name that tells nothing of the address, to the other services neither', async (t) => {
    const email = someEmail()
    const { user } = await post('/auth/register', { email })
    t.notMatch(JSON.stringify(await publishedEvents(user.id)), email.split('@')[0])
  })

  t.test('refuses a name that is reserved or misleads', async (t) => {
    for (const name of ['Tandem Support', 'ADMIN', 'ÀdМіn', 'Ana\u202Eirtup', 'A\u200Bna']) {
      t.match(await post('/auth/register', { email: someEmail(), name }), { status: 400, code: 'VALIDATION_ERROR' })
    }
  })

  t.test('takes what keeps the limits, and refuses what does not', async (t) => {
    const register = async (body: object) => (await post('/auth/register', { email: someEmail(), ...body })).status
    const long = (length: number) => `Aa1${'x'.repeat(length - 3)}`
    const fine = [
      { password: 'Abcdefg1' }, { password: long(128) }, { name: 'Al' }, { name: 'é'.repeat(100) }, { name: '😀'.repeat(100) }, { platform: 'android' }, { platform: 'ios' },
      { referralCode: '' }, { referralCode: 'nobody' }, { deviceInfo: '' }, { email: `${'a'.repeat(200)}-${Date.now()}@example.com` }, { role: 'ADMIN', emailVerified: true }
    ]
    for (const body of fine) t.equal(await register(body), 201, JSON.stringify(body).slice(0, 60))
    const bad = [
      { password: 'Abcdef1' }, { password: 'abcdefg1' }, { password: 'ABCDEFG1' }, { password: 'Abcdefgh' }, { password: long(129) }, { password: '' }, { password: 12345678 },
      { name: 'A' }, { name: ' A ' }, { name: 'x'.repeat(101) }, { name: {} }, { platform: 'windows' }, { email: 'ana' }, { email: undefined }, { email: ['a@b.co'] },
      { email: `${'a'.repeat(243)}@example.com` }, { name: 'NUL \0 in it' }, { deviceInfo: 'x'.repeat(501) }
    ]
    for (const body of bad) t.equal(await register(body), 400, JSON.stringify(body).slice(0, 60))
  })

  t.test('lets nobody choose what he is', async (t) => {
    const { user } = await post('/auth/register', { email: someEmail(), role: 'ADMIN', emailVerified: true, id: 'mine', referral_code: 'MINE' })
    t.match(user, { role: 'USER', emailVerified: false })
  })

  t.test('refuses an address that has an account, in whatever case', async (t) => {
    const { email } = await givenAccount()
    t.match(await post('/auth/register', { email: email.toUpperCase(), password }), { status: 409, success: false, code: 'EMAIL_EXISTS', error: String })
  })

  t.test('50 times at once makes one account, of one address in mixed case', async (t) => {
    const email = someEmail()
    const cases = Array.from(email, (_, index) => email.slice(0, index).toUpperCase() + email.slice(index))
    const { tally, results } = await inParallel(50, async (index) => await post('/auth/register', { email: cases[index % cases.length], password }))
    t.strictSame(tally, { 201: 1, '409 EMAIL_EXISTS': 49 })
    const winner = results.find(({ status }) => status === 201) as unknown as { refreshToken: string, user: { id: string } }
    t.ok(await canRefresh(winner))
    t.equal((await publishedEvents(winner.user.id)).length, 2)
    t.equal((await mailsTo(email)).length, 1)
  })

  t.test('redeems a referral code once, and ignores an unknown one', async (t) => {
    const friend = await post('/auth/register', { email: someEmail() })
    const { referral_code: code } = await db.selectFrom('accounts').where('id', '=', friend.user.id).select('referral_code').executeTakeFirstOrThrow()
    t.match(code, /^[A-Z2-9]{8}$/)
    const { user } = await post('/auth/register', { email: someEmail(), referralCode: ` ${code.toLowerCase()} ` })
    const stranger = await post('/auth/register', { email: someEmail(), referralCode: 'NOBODYS1' })
    const referrals = await db.selectFrom('referrals').select(['account_id', 'referrer_id']).where('account_id', 'in', [user.id, stranger.user.id]).execute()
    t.strictSame(referrals, [{ account_id: user.id, referrer_id: friend.user.id }])
  })

  t.test('goes on without Redis and SMTP, and what is to be mailed is mailed afterwards', async (t) => {
    const email = someEmail()
    await Promise.all([redis.stop(), mail.stop()])
    t.match(await post('/auth/register', { email, password }), { status: 201 })
    await Promise.all([redis.start(), mail.start()])
    t.match(await codeMailedTo(email), /^\d{6}$/)
  })
})
