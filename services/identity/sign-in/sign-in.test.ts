import { randomUUID } from 'node:crypto'
import argon2 from 'argon2'
import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, password, randomEmail, testApp, wrongCode } from '../test/app.ts'
import { createHashing } from '../passwords/hashing.ts'
import type { Provider } from '../tables.ts'

const profile = {
  gender: 'FEMALE',
  birthDate: '1998-04-01T00:00:00.000Z',
  height: 168,
  heightUnit: 'cm',
  weight: 60.5,
  weightUnit: 'kg',
  fitnessGoal: 'BUILD_MUSCLE',
  onboardingCompleted: true,
  onboardingStep: 3,
  experience: 'INTERMEDIATE',
  timezone: 'Asia/Jakarta',
  username: 'ana',
  avatarUrl: null
}
const nutritionGoal = { dailyCalories: 2000, proteinTarget: 100, carbsTarget: 200, fatTarget: 60, goalType: 'MAINTAIN' }
const { db, rpcResults, post, get, givenAccount, codeMailedTo, linkMailedTo, login, canRefresh, publishedEvents } =
  await testApp(t, { hashing: await createHashing() })

const blockOf =
  async () => (await db.selectFrom('failed_password_attempts').select(['failures', 'blocked_until']).orderBy(
    'blocked_until',
    'desc'
  ).executeTakeFirst())
// On a busy machine a block of one second may end too soon.
const extendBlocks = async () =>
  await db.updateTable('failed_password_attempts').where('failures', '>=', 5).set({
    blocked_until: new Date(Date.now() + 60_000)
  }).execute()
const endBlock = async () =>
  await db.updateTable('failed_password_attempts').set({ blocked_until: new Date(Date.now() - 1_000) }).execute()
t.beforeEach(async () => {
  await db.deleteFrom('failed_password_attempts').execute()
})

t.test('the correct password signs in and returns the user with the data of the other services', async (t) => {
  const { id, email } = await givenAccount()
  Object.assign(rpcResults, {
    person: { name: 'Ana Putri', image: 'https://cdn.example.com/a.webp', profile },
    totals: { totalWorkouts: 3, totalFoodEntries: 4, nutritionGoal }
  })
  t.teardown(() => {
    delete rpcResults.person
    delete rpcResults.totals
  })

  const response = await login(email.toUpperCase(), {
    deviceInfo: 'Pixel 9',
    deviceName: 'Phone',
    platform: 'android',
    appVersion: '2.0'
  })
  t.match(response, { accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/, refreshToken: /^[\w-]{43}$/, user: { createdAt: /Z$/ } })
  t.strictSame({ ...response, accessToken: '', refreshToken: '', user: { ...response.user, createdAt: '' } }, {
    status: 200,
    success: true,
    accessToken: '',
    refreshToken: '',
    expiresIn: 900,
    user: {
      id,
      name: 'Ana Putri',
      email,
      image: 'https://cdn.example.com/a.webp',
      role: 'USER',
      emailVerified: true,
      createdAt: '',
      profile,
      nutritionGoal
    }
  })
  t.match(await get('/auth/sessions', { as: response }), {
    data: {
      sessions: [{
        deviceInfo: 'Pixel 9',
        deviceName: 'Phone',
        platform: 'android',
        appVersion: '2.0',
        ipAddress: '203.0.*.*',
        isCurrent: true
      }, { isCurrent: false }],
      totalSessions: 2
    }
  })
})

t.test('while the other services are unavailable, their data is null', async (t) => {
  const { email } = await givenAccount()
  t.match(await login(email), { status: 200, user: { name: 'Ana', profile: null, nutritionGoal: null } })
})

t.test('an unknown address, a wrong password and an account without one get the same error', async (t) => {
  const { email } = await givenAccount()
  const rejection = {
    status: 401,
    success: false,
    error: 'The email or the password is incorrect',
    code: 'INVALID_CREDENTIALS'
  }
  t.strictSame(await login(email, { password: 'Wrong-0ne' }), rejection)
  t.strictSame(await login(randomEmail()), rejection)
  t.strictSame(await login((await givenAccount({ hasPassword: false })).email), rejection)
  t.strictSame(await login((await givenAccount({ hasPassword: false, provider: 'PROVIDER_B' })).email), rejection)
  t.strictSame(await login(email, { password: password.toLowerCase() }), rejection)
})

t.test('an account of provider A without a password has to use provider A', async (t) => {
  const { id, email } = await givenAccount({ hasPassword: false, provider: 'PROVIDER_A' })
  t.match(await login(email), { status: 401, success: false, code: 'PROVIDER_A_ACCOUNT', error: String })
  const links = (provider: Provider) => ({ provider, subject: randomUUID(), account_id: id })
  await db.insertInto('provider_links').values(links('PROVIDER_A')).execute()
  t.match(await login(email), { code: 'PROVIDER_A_ACCOUNT' }, 'also with two identities of it')
  await db.insertInto('provider_links').values(links('PROVIDER_B')).execute()
  t.match(await login(email), { code: 'INVALID_CREDENTIALS' })
  t.match(
    await login((await givenAccount({ provider: 'PROVIDER_A' })).email),
    { status: 200 },
    'an account that also has a password signs in'
  )
})

t.test('only a correct password reveals whether an address is verified', async (t) => {
  const { id, email } = await givenAccount({ verified: false })
  t.match(await login(email, { password: 'Wrong-0ne' }), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await login(email), { status: 403, code: 'EMAIL_NOT_VERIFIED' })
  t.match(await publishedEvents(id), { length: 1 }, 'nothing is published')
})

t.test('an invalid body is rejected', async (t) => {
  for (
    const body of [{}, { email: 'ana', password }, { email: randomEmail() }, { email: randomEmail(), password: '' }, {
      email: randomEmail(),
      password: 'x'.repeat(129)
    }, { email: randomEmail(), password, platform: 'web' }]
  ) {
    t.match(
      await post('/auth/login', body),
      { status: 400, code: 'VALIDATION_ERROR' },
      JSON.stringify(body).slice(0, 60)
    )
  }
})

t.test('a password matches in every Unicode normalization form', async (t) => {
  const { email, ...account } = await givenAccount({ hasPassword: false })
  t.match(await post('/auth/set-initial-password', { password: 'Caf\u00e9-Cr\u00e8me-1' }, { as: account }), {
    status: 200
  })
  t.match(await login(email, { password: 'Cafe\u0301-Cre\u0300me-1' }), { status: 200 })
})

t.test('after five wrong passwords in a row an address is blocked', async (t) => {
  for (const [kind, email] of [['known', (await givenAccount()).email], ['unknown', randomEmail()]] as const) {
    await db.deleteFrom('failed_password_attempts').execute()
    for (let times = 1; times <= 4; times++) t.match(await login(email, { password: 'Wrong-0ne' }), { status: 401 })
    t.ok((await blockOf())!.blocked_until.getTime() <= Date.now(), `${kind}: four are allowed`)

    const blocksSeconds = []
    for (let times = 5; times <= 13; times++) {
      await login(email, { password: 'Wrong-0ne' })
      blocksSeconds.push(Math.round(((await blockOf())!.blocked_until.getTime() - Date.now()) / 1_000))
      await endBlock()
    }
    t.strictSame(blocksSeconds, [1, 2, 4, 8, 16, 32, 60, 60, 60], kind)
  }
})

t.test('a blocked address rejects the correct password, and accepts it afterwards', async (t) => {
  const { email } = await givenAccount()
  for (let times = 1; times <= 6; times++) {
    await login(email, { password: 'Wrong-0ne' }).then(async () => {
      if (times < 6) await endBlock()
    })
  }
  t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.equal((await blockOf())?.failures, 6, 'an attempt during the block does not extend it')
  await endBlock()
  t.match(await login(email), { status: 200 })
  t.equal(await blockOf(), undefined, 'the failed attempts are cleared')
})

t.test('concurrent guesses do not get around the block', async (t) => {
  const { email } = await givenAccount()
  // The first block lasts a second. On a busy machine it would end before the last of these comparisons, so that the
  // correct password would rightly sign in.
  await sql`
    create function extend_block() returns trigger language plpgsql as $$
    begin
      new.blocked_until := new.blocked_until + interval '1 minute';
      return new;
    end $$`.execute(db)
  await sql`
    create trigger extend_block before update on failed_password_attempts
    for each row when (new.failures >= 5) execute function extend_block()`.execute(db)
  t.teardown(async () => await sql`drop function extend_block cascade`.execute(db))
  const { tally } = await inParallel(
    16,
    async (index) => await login(email, index === 15 ? {} : { password: `Wrong-${index}` })
  )
  t.strictSame(tally, { '401 INVALID_CREDENTIALS': 16 })
  t.equal((await blockOf())?.failures, 5)
})

t.test('guesses from elsewhere do not lock the owner out', async (t) => {
  const { email } = await givenAccount()
  const home = { from: '192.0.2.10' }
  t.match(await login(email, {}, home), { status: 200 })
  const attackers = Array.from({ length: 8 }, (_, number) => `198.51.${number}.1`)
  for (const from of attackers) {
    t.match(await login(email, { password: 'Wrong-0ne' }, { from }), { status: 401, code: 'INVALID_CREDENTIALS' })
  }
  await extendBlocks()
  t.match(
    await login(email, {}, { from: '198.51.99.1' }),
    { status: 401, code: 'INVALID_CREDENTIALS' },
    'all unknown networks are blocked together'
  )
  t.match(await login(email, {}, { from: '192.0.2.200' }), { status: 200 }, 'the owner can sign in at home')

  for (let times = 0; times < 5; times++) t.match(await login(email, { password: 'Wrong-0ne' }, home), { status: 401 })
  await extendBlocks()
  t.match(await login(email, {}, home), { status: 401 }, 'wrong passwords block this network, too')
  t.match(await login(email, {}, { from: '203.0.113.7' }), { status: 200 }, 'but no other network of the owner')
})

t.test('the owner can sign in from a new network after a reset, despite concurrent guesses', async (t) => {
  const { email } = await givenAccount()
  const away = { from: '192.0.2.10' }
  const guess = async () => await login(email, { password: 'Wrong-0ne' }, { from: '198.51.100.7' })
  for (let times = 0; times < 6; times++) await guess()
  await post('/auth/forgot-password', { email }, away)
  const { token } = await linkMailedTo(email)
  t.match(await post('/auth/reset-password', { email, token, password: 'Other-Door-7' }, away), { status: 200 })
  for (let times = 0; times < 6; times++) await guess()
  await extendBlocks()
  t.match(await login(email, { password: 'Other-Door-7' }, away), { status: 200 })
})

t.test('networks are deleted after 180 days, and those of the registrant when somebody else verifies the address', async (t) => {
  const networksOf = async (accountId: string) =>
    (await db.selectFrom('account_networks').where('account_id', '=', accountId).select('network').execute()).map((
      { network }
    ) => network)
  const { id } = await givenAccount()
  t.strictSame(await networksOf(id), ['203.0.113.0/24'])
  await db.updateTable('account_networks').where('account_id', '=', id).set({
    last_signed_in_at: new Date(Date.now() - 181 * 24 * 3_600_000)
  }).execute()
  await runHousekeeping(db)
  t.strictSame(await networksOf(id), [])

  const attacker = await givenAccount({ verified: false })
  await post('/auth/request-code', { email: attacker.email })
  t.match(
    await post('/auth/login-code', { email: attacker.email, code: await codeMailedTo(attacker.email) }, {
      from: '192.0.2.10'
    }),
    { status: 200 }
  )
  t.strictSame(await networksOf(attacker.id), ['192.0.2.0/24'])
})

t.test('20 concurrent sign-ins of one account all succeed', async (t) => {
  const { email, ...account } = await givenAccount()
  const { tally } = await inParallel(20, async () => await login(email))
  t.strictSame(tally, { 200: 20 })
  t.match(await get('/auth/sessions', { as: account }), { data: { totalSessions: 21 } })
})

t.test('only a new device, and not the first one, is published as new', async (t) => {
  const { email, id } = await givenAccount()
  await db.deleteFrom('outbox').execute()
  await db.deleteFrom('sessions').where('account_id', '=', id).execute()
  for (const [index, deviceName] of ['phone', 'phone', 'tablet', 'phone', undefined].entries()) {
    await login(email, { deviceName, platform: 'ios', appVersion: `1.${index}` })
  }
  t.strictSame(
    (await publishedEvents(id)).map(({ type, newDevice, method, deviceName }) => [type, newDevice, method, deviceName]),
    [
      ['session.started', false, 'PASSWORD', 'phone'],
      ['session.started', false, 'PASSWORD', 'phone'],
      ['session.started', true, 'PASSWORD', 'tablet'],
      ['session.started', false, 'PASSWORD', 'phone'],
      ['session.started', true, 'PASSWORD', null]
    ]
  )
})

t.test('a sign-in from an unknown network is published as new, whatever the device says', async (t) => {
  const { email, id } = await givenAccount()
  const signIn = async (from: string, deviceInfo: string) =>
    await post('/auth/login', { email, password, deviceName: 'phone', platform: 'iOS', deviceInfo }, { from })
  await signIn('192.0.2.1', 'iOS 26.0')
  await db.deleteFrom('outbox').execute()
  await signIn('192.0.2.2', 'iOS 26.1')
  await signIn('198.51.100.7', 'iOS 26.1')
  await signIn('198.51.100.8', 'iOS 26.1')
  t.strictSame((await publishedEvents(id)).map(({ newDevice }) => newDevice), [false, true, false])
})

const outdated = { memoryCost: 8_192, timeCost: 2, parallelism: 1 }

t.test('a hash with outdated settings is replaced', async (t) => {
  const { email, id } = await givenAccount()
  const hashOf = async () =>
    (await db.selectFrom('accounts').where('id', '=', id).select('password_hash').executeTakeFirstOrThrow())
      .password_hash!
  await db.updateTable('accounts').set({
    password_hash: await argon2.hash(password, outdated)
  }).where('id', '=', id).execute()
  t.match(await login(email), { status: 200 })
  t.match(await hashOf(), /^\$argon2id\$v=19\$m=12288,p=1,t=3\$/)
  t.match(await login(email), { status: 200 })
})

t.test('a hash with outdated settings is replaced while others sign in with it', async (t) => {
  const { email, id } = await givenAccount()
  await db.updateTable('accounts').set({ password_hash: await argon2.hash(password, outdated) }).where('id', '=', id)
    .execute()
  const { tally } = await inParallel(4, async () => await login(email))
  t.same(tally, { 200: 4 })
})

t.test('a mailed code', async (t) => {
  const request = async (email: string, from?: string) =>
    await post('/auth/request-code', { email }, from ? { from } : {})
  const loginCode = async (email: string, code: string) =>
    await post('/auth/login-code', { email, code, platform: 'ios' })

  t.test('signs in, once', async (t) => {
    const { id, email } = await givenAccount({ hasPassword: false })
    t.strictSame(await request(email.toUpperCase()), {
      status: 200,
      success: true,
      message: 'If this address is registered, we have sent a code to it'
    })
    const code = await codeMailedTo(email)
    t.match(await loginCode(email, wrongCode(code)), { status: 400, success: false, code: 'INVALID_CODE' })
    const response = await loginCode(email.toUpperCase(), code)
    t.match(response, { status: 200, success: true, expiresIn: 900, user: { id, emailVerified: true } })
    t.ok(await canRefresh(response))
    t.match(await loginCode(email, code), { status: 400, code: 'INVALID_CODE' })
    t.match((await publishedEvents(id)).at(-1), { type: 'session.started', method: 'CODE' })
  })

  t.test('gets the same response for an unknown address', async (t) => {
    const email = randomEmail()
    t.strictSame(await request(email), {
      status: 200,
      success: true,
      message: 'If this address is registered, we have sent a code to it'
    })
    t.match(await loginCode(email, '000000'), { status: 400, code: 'INVALID_CODE' })
  })

  t.test('expires after ten minutes', async (t) => {
    const { id, email } = await givenAccount()
    await request(email)
    const code = await codeMailedTo(email)
    const { expires_at: expires } = await db.selectFrom('codes').where('account_id', '=', id).select('expires_at')
      .executeTakeFirstOrThrow()
    t.ok(Math.abs(expires.getTime() - Date.now() - 600_000) < 60_000)
    await db.updateTable('codes').set({ expires_at: new Date() }).where('account_id', '=', id).execute()
    t.match(await loginCode(email, code), { status: 400, code: 'INVALID_CODE' })
  })

  t.test('is valid for one purpose only', async (t) => {
    const { id, email } = await givenAccount({ verified: false })
    await post('/auth/resend-verification', { email })
    t.match(await loginCode(email, await codeMailedTo(email)), { status: 400, code: 'INVALID_CODE' })
    await request(email)
    const code = await codeMailedTo(email, 2)
    t.match(await post('/auth/verify-email', { userId: id, code }), { status: 400, code: 'INVALID_CODE' })
  })

  t.test('verifies the address and revokes the access of the registrant', async (t) => {
    const registrant = await givenAccount({ verified: false })
    const { email } = registrant
    await request(email)
    t.match(await loginCode(email, await codeMailedTo(email)), { status: 200, user: { emailVerified: true } })
    t.notOk(await canRefresh(registrant))
    t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  })

  t.test('is rejected for a banned account', async (t) => {
    const { id, email } = await givenAccount()
    await request(email)
    const code = await codeMailedTo(email)
    await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', id).execute()
    t.match(await loginCode(email, code), { status: 400, code: 'INVALID_CODE' })
    t.match(await login(email), { status: 403, code: 'ACCOUNT_BANNED' })
  })
})
