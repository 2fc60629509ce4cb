import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { inParallel, password, randomEmail, testApp } from '../test/app.ts'

const { db, post, get, givenAccount, codeMailedTo, mailsTo, login, canRefresh, publishedEvents, redis, mail } =
  await testApp(t)

const isTokens = { accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/, refreshToken: /^[\w-]{43}$/, expiresIn: 900 }

t.test('check-email', async (t) => {
  const check = async (email: unknown) => await post('/auth/check-email', { email })

  t.test('returns `register` for an unknown address', async (t) => {
    t.strictSame(await check(randomEmail()), {
      status: 200,
      success: true,
      exists: false,
      method: 'register',
      hasProviderA: false,
      hasProviderB: false
    })
  })

  t.test('returns the sign-in method of each kind of account', async (t) => {
    const of = async (account: Parameters<typeof givenAccount>[0]) => await check((await givenAccount(account)).email)
    const known = { status: 200, success: true, exists: true, isVerified: true }
    t.strictSame(await of({}), { ...known, method: 'credentials', hasProviderA: false, hasProviderB: false })
    t.strictSame(await of({ hasPassword: false, provider: 'PROVIDER_A' }), {
      ...known,
      method: 'provider_a',
      hasProviderA: true,
      hasProviderB: false
    })
    t.strictSame(await of({ hasPassword: false, provider: 'PROVIDER_B' }), {
      ...known,
      method: 'provider_b',
      hasProviderA: false,
      hasProviderB: true
    })
    t.strictSame(await of({ provider: 'PROVIDER_A' }), {
      ...known,
      method: 'credentials',
      hasProviderA: true,
      hasProviderB: false
    })
    t.strictSame(await of({ hasPassword: false }), {
      ...known,
      method: 'credentials',
      hasProviderA: false,
      hasProviderB: false
    })

    const both = await givenAccount({ hasPassword: false, provider: 'PROVIDER_A' })
    await db.insertInto('provider_links').values({ provider: 'PROVIDER_B', subject: 'both', account_id: both.id })
      .execute()
    t.strictSame(await check(both.email), { ...known, method: 'provider_a', hasProviderA: true, hasProviderB: true })
  })

  t.test('returns the id of an unverified account', async (t) => {
    const { id, email } = await givenAccount({ verified: false, hasPassword: false })
    t.strictSame(await check(` ${email.toUpperCase()} `), {
      status: 200,
      success: true,
      exists: true,
      method: 'credentials',
      hasProviderA: false,
      hasProviderB: false,
      isVerified: false,
      userId: id
    })
  })

  t.test('rejects an invalid address with INVALID_EMAIL', async (t) => {
    for (
      const email of [
        'ana',
        'ana@',
        '@example.com',
        'a b@example.com',
        '',
        ' ',
        42,
        null,
        undefined,
        'ana\0@example.com',
        `${'a'.repeat(243)}@example.com`
      ]
    ) {
      t.match(await check(email), { status: 400, success: false, code: 'INVALID_EMAIL', error: String }, String(email))
    }
    t.match(await check(`${'a'.repeat(242)}@example.com`), { status: 200 }, '254 characters')
  })
})

t.test('register', async (t) => {
  t.test('creates an account, signs it in and mails a code', async (t) => {
    const email = randomEmail()
    const response = await post('/auth/register', {
      email: email.toUpperCase(),
      password,
      name: ' Ana Putri ',
      platform: 'ios',
      deviceInfo: 'iPhone 17',
      appVersion: '1.0'
    })
    t.match(response, isTokens)
    t.strictSame({ ...response, accessToken: '', refreshToken: '' }, {
      status: 201,
      success: true,
      accessToken: '',
      refreshToken: '',
      expiresIn: 900,
      requiresEmailVerification: true,
      user: {
        id: response.user.id,
        name: 'Ana Putri',
        email,
        image: null,
        role: 'USER',
        emailVerified: false,
        createdAt: response.user.createdAt,
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
    t.match(response.user.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.match(await get('/auth/sessions', { as: response }), {
      status: 200,
      data: { sessions: [{ platform: 'ios', deviceInfo: 'iPhone 17', appVersion: '1.0' }] }
    })
    t.ok(await canRefresh(response))
    t.match(await codeMailedTo(email), /^\d{6}$/)

    const { id } = response.user
    t.strictSame(await publishedEvents(id), [
      { type: 'account.registered', accountId: id, name: 'Ana Putri', usernameSeed: 'user', locale: 'en', image: null },
      {
        type: 'session.started',
        accountId: id,
        sessionId: (await publishedEvents(id))[1]?.sessionId,
        method: 'REGISTRATION',
        newDevice: false,
        deviceName: null,
        platform: 'ios'
      }
    ])
  })

  t.test('can be repeated with its idempotency key when the response was lost', async (t) => {
    const email = randomEmail()
    const register = async (key?: string, body: object = { email, password }) =>
      await post('/auth/register', body, { headers: key === undefined ? {} : { 'idempotency-key': key } })
    const exists = { status: 409, code: 'EMAIL_EXISTS' }
    const first = await register('k')
    t.match(first, { status: 201, ...isTokens })
    const repeat = await register('k')
    t.match(repeat, { status: 201, refreshToken: first.refreshToken, requiresEmailVerification: true })
    t.strictSame(repeat.user, first.user)
    t.match(await get('/auth/sessions', { as: repeat }), { status: 200, data: { sessions: [{}] } })
    t.equal((await publishedEvents(first.user.id)).length, 2, 'nothing is published again')
    t.equal((await mailsTo(email)).length, 1)

    t.match(await register(), exists)
    t.match(await register('other'), exists)
    t.match(await register('k', { email, password: 'Other-Door-7' }), exists, 'another password')
    t.match(await register('k', { email, password, name: 'Ben' }), exists, 'another name')
    t.match(await register('k', { email, password, referralCode: 'K7RMX2PA' }), exists, 'another referral code')
    t.ok(await canRefresh(repeat))
    t.match(await register('k'), exists, 'the tokens have arrived')
  })

  t.test('at once with the same idempotency key gets one account and one session', async (t) => {
    const email = randomEmail()
    const tokens = new Set<string>()
    const { tally } = await inParallel(10, async () => {
      const response = await post('/auth/register', { email }, { headers: { 'idempotency-key': 'k' } })
      tokens.add(response.refreshToken)
      return response
    })
    t.strictSame(tally, { 201: 10 })
    t.equal(tokens.size, 1)
  })

  t.test('cannot be repeated after ten minutes, or once its session has ended', async (t) => {
    const register = async (email: string) =>
      await post('/auth/register', { email, password }, { headers: { 'idempotency-key': 'k' } })
    const [old, ended] = [randomEmail(), randomEmail()]
    await sql`update sessions set created_at = now() - interval '11 minutes' where account_id = ${
      (await register(old)).user.id
    }`.execute(db)
    t.match(await register(old), { status: 409, code: 'EMAIL_EXISTS' })
    await post('/auth/logout', {}, { as: await register(ended) })
    t.match(await register(ended), { status: 409, code: 'EMAIL_EXISTS' })
  })

  t.test('requires only an address', async (t) => {
    const email = randomEmail()
    t.equal((await post('/auth/register', { email })).status, 201)
    t.match(
      await login(email),
      { status: 401, code: 'INVALID_CREDENTIALS' },
      'without a password every password is wrong'
    )
  })

  t.test('without a name takes what stands before the at sign, which is no username', async (t) => {
    const names = {
      'Ana.Putri+gym': 'ana.putri+gym',
      x: 'x',
      ['a'.repeat(200)]: 'a'.repeat(100)
    }
    for (const [prefix, name] of Object.entries(names)) {
      const { user } = await post('/auth/register', { email: `${prefix}@${randomUUID()}.example.com` })
      t.match(user, { name })
      t.match(await publishedEvents(user.id), [{ type: 'account.registered', name, usernameSeed: 'user' }, {}])
    }
  })

  t.test('without a name at a reserved or misleading address gets a neutral one', async (t) => {
    for (const prefix of ['admin', 'support.team', '4dm1n', 'tandem-official+1']) {
      const { user } = await post('/auth/register', { email: `${prefix}@${randomUUID()}.example.com` })
      t.match(user, { name: /^[A-Z][a-z]+ [A-Z][a-z]+$/ }, prefix)
    }
  })

  t.test('rejects a reserved or misleading name', async (t) => {
    for (const name of ['Tandem Support', 'ADMIN', 'ÀdМіn', 'Ana\u202Eirtup', 'A\u200Bna']) {
      t.match(await post('/auth/register', { email: randomEmail(), name }), { status: 400, code: 'VALIDATION_ERROR' })
    }
  })

  t.test('accepts values within the limits and rejects others', async (t) => {
    const register = async (body: object) => (await post('/auth/register', { email: randomEmail(), ...body })).status
    const long = (length: number) => `Aa1${'x'.repeat(length - 3)}`
    const valid = [
      { password: 'Abcdefg1' },
      { password: long(128) },
      { name: 'Al' },
      { name: 'é'.repeat(100) },
      { name: '😀'.repeat(100) },
      { platform: 'android' },
      { platform: 'ios' },
      { referralCode: '' },
      { referralCode: 'nobody' },
      { referralCode: 'x'.repeat(500) },
      { deviceInfo: '' },
      { email: `${'a'.repeat(200)}-${Date.now()}@example.com` },
      { role: 'ADMIN', emailVerified: true }
    ]
    for (const body of valid) t.equal(await register(body), 201, JSON.stringify(body).slice(0, 60))
    const invalid = [
      { password: 'Abcdef1' },
      { password: 'abcdefg1' },
      { password: 'ABCDEFG1' },
      { password: 'Abcdefgh' },
      { password: long(129) },
      { password: '' },
      { password: 12345678 },
      { name: 'A' },
      { name: ' A ' },
      { name: 'x'.repeat(101) },
      { name: {} },
      { platform: 'windows' },
      { email: 'ana' },
      { email: undefined },
      { email: ['a@b.co'] },
      { email: `${'a'.repeat(243)}@example.com` },
      { name: 'NUL \0 in it' },
      { deviceInfo: 5 }
    ]
    for (const body of invalid) t.equal(await register(body), 400, JSON.stringify(body).slice(0, 60))
  })

  t.test('ignores a role, an id and a verified flag in the body', async (t) => {
    const { user } = await post('/auth/register', {
      email: randomEmail(),
      role: 'ADMIN',
      emailVerified: true,
      id: 'mine',
      referral_code: 'MINE'
    })
    t.match(user, { role: 'USER', emailVerified: false })
  })

  t.test('accepts a domain in Unicode and in ASCII as the same address', async (t) => {
    const name = randomUUID()
    t.match(await post('/auth/register', { email: `${name}@MÜNCHEN.example`, password }), {
      status: 201,
      user: { email: `${name}@xn--mnchen-3ya.example` }
    })
    t.match(await post('/auth/check-email', { email: `${name}@xn--mnchen-3ya.example` }), { exists: true })
    t.match(await post('/auth/check-email', { email: `${name}@münchen.example` }), { exists: true })
  })

  t.test('rejects an address that has an account, case-insensitively', async (t) => {
    const { email } = await givenAccount()
    t.match(await post('/auth/register', { email: email.toUpperCase(), password }), {
      status: 409,
      success: false,
      code: 'EMAIL_EXISTS',
      error: String
    })
  })

  t.test('called 50 times concurrently creates one account for one address in mixed case', async (t) => {
    const email = randomEmail()
    const cases = Array.from(email, (_, index) => email.slice(0, index).toUpperCase() + email.slice(index))
    const { tally, results } = await inParallel(
      50,
      async (index) => await post('/auth/register', { email: cases[index % cases.length], password })
    )
    t.strictSame(tally, { 201: 1, '409 EMAIL_EXISTS': 49 })
    const winner = results.find(({ status }) => status === 201) as unknown as {
      refreshToken: string,
      user: { id: string }
    }
    t.ok(await canRefresh(winner))
    t.equal((await publishedEvents(winner.user.id)).length, 2)
    t.equal((await mailsTo(email)).length, 1)
  })

  t.test('records a referral, and ignores an unknown code', async (t) => {
    const friend = await post('/auth/register', { email: randomEmail() })
    const { referral_code: code } = await db.selectFrom('accounts').where('id', '=', friend.user.id).select(
      'referral_code'
    ).executeTakeFirstOrThrow()
    t.match(code, /^[A-Z2-9]{8}$/)
    const { user } = await post('/auth/register', { email: randomEmail(), referralCode: ` ${code.toLowerCase()} ` })
    const other = await post('/auth/register', { email: randomEmail(), referralCode: 'NOBODYS1' })
    const referrals = await db.selectFrom('referrals').select(['account_id', 'referrer_id']).where('account_id', 'in', [
      user.id,
      other.user.id
    ]).execute()
    t.strictSame(referrals, [{ account_id: user.id, referrer_id: friend.user.id }])
  })

  t.test('works without Redis and SMTP, and the mail is sent later', async (t) => {
    const email = randomEmail()
    await Promise.all([redis.stop(), mail.stop()])
    t.match(await post('/auth/register', { email, password }), { status: 201 })
    await Promise.all([redis.start(), mail.start()])
    t.match(await codeMailedTo(email), /^\d{6}$/)
  })
})
