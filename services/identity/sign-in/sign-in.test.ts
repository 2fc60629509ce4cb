// Runs alone: it measures how long answers take.
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, password, someEmail, testApp, wrong } from '../test/app.ts'

const profile = {
  gender: 'FEMALE', birthDate: '1998-04-01T00:00:00.000Z', height: 168, heightUnit: 'cm', weight: 60.5, weightUnit: 'kg', fitnessGoal: 'BUILD_MUSCLE',
  onboardingCompleted: true, onboardingStep: 3, experience: 'INTERMEDIATE', timezone: 'Asia/Jakarta', username: 'ana', avatarUrl: null
}
const nutritionGoal = { dailyCalories: 2000, proteinTarget: 100, carbsTarget: 200, fatTarget: 60, goalType: 'MAINTAIN' }
const { db, answers, post, get, givenAccount, codeMailedTo, linkMailedTo, login, canRefresh, publishedEvents } = await testApp(t)

const waitOf = async () => (await db.selectFrom('wrong_passwords').select(['times', 'wait_until']).orderBy('wait_until', 'desc').executeTakeFirst())
// A second is soon over on a busy machine.
const prolongWaits = async () => await db.updateTable('wrong_passwords').where('times', '>=', 5).set({ wait_until: new Date(Date.now() + 60_000) }).execute()
const endWait = async () => await db.updateTable('wrong_passwords').set({ wait_until: new Date(Date.now() - 1_000) }).execute()
t.beforeEach(async () => { await db.deleteFrom('wrong_passwords').execute() })

t.test('the right password signs in, and shows the person with what others own of him', async (t) => {
  const { id, email } = await givenAccount()
  Object.assign(answers, { person: { name: 'Ana Putri', image: 'https://cdn.example.com/a.webp', profile }, totals: { totalWorkouts: 3, totalFoodEntries: 4, nutritionGoal } })
  t.teardown(() => { delete answers.person; delete answers.totals })

  const answer = await login(email.toUpperCase(), { deviceInfo: 'Pixel 9', deviceName: 'Phone', platform: 'android', appVersion: '2.0' })
  t.match(answer, { accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/, refreshToken: /^[\w-]{43}$/, user: { createdAt: /Z$/ } })
  t.strictSame({ ...answer, accessToken: '', refreshToken: '', user: { ...answer.user, createdAt: '' } }, {
    status: 200,
    success: true,
    accessToken: '',
    refreshToken: '',
    expiresIn: 900,
    user: {
      id, name: 'Ana Putri', email, image: 'https://cdn.example.com/a.webp', role: 'USER', emailVerified: true, createdAt: '', profile, nutritionGoal
    }
  })
  t.match(await get('/auth/sessions', { as: answer }), {
    data: { sessions: [{ deviceInfo: 'Pixel 9', deviceName: 'Phone', platform: 'android', appVersion: '2.0', ipAddress: '203.0.*.*' }, {}], totalSessions: 2 }
  })
})

t.test('while the other services are away, what they own is null', async (t) => {
  const { email } = await givenAccount()
  t.match(await login(email), { status: 200, user: { name: 'Ana', profile: null, nutritionGoal: null } })
})

t.test('an unknown address, a wrong password and an account without one are refused alike', async (t) => {
  const { email } = await givenAccount()
  const refusal = { status: 401, success: false, error: 'The email or the password is wrong', code: 'INVALID_CREDENTIALS' }
  t.strictSame(await login(email, { password: 'Wrong-0ne' }), refusal)
  t.strictSame(await login(someEmail()), refusal)
  t.strictSame(await login((await givenAccount({ hasPassword: false })).email), refusal)
  t.strictSame(await login((await givenAccount({ hasPassword: false, provider: 'PROVIDER_B' })).email), refusal)
  t.strictSame(await login(email, { password: password.toLowerCase() }), refusal)
})

t.test('an account that provider A made is sent there', async (t) => {
  const { email } = await givenAccount({ hasPassword: false, provider: 'PROVIDER_A' })
  t.match(await login(email), { status: 401, success: false, code: 'PROVIDER_A_ACCOUNT', error: String })
  t.match(await login((await givenAccount({ provider: 'PROVIDER_A' })).email), { status: 200 }, 'but not one that has a password as well')
})

t.test('whether an address is verified is told only to who knows its password', async (t) => {
  const { id, email } = await givenAccount({ verified: false })
  t.match(await login(email, { password: 'Wrong-0ne' }), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await login(email), { status: 403, code: 'EMAIL_NOT_VERIFIED' })
  t.match(await publishedEvents(id), { length: 1 }, 'and nothing is said')
})

t.test('what is not a sign-in is refused', async (t) => {
  for (const body of [{}, { email: 'ana', password }, { email: someEmail() }, { email: someEmail(), password: '' }, { email: someEmail(), password: 'x'.repeat(129) }, { email: someEmail(), password, platform: 'web' }]) {
    t.match(await post('/auth/login', body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body).slice(0, 60))
  }
})

t.test('a password means the same in whatever way its letters are written', async (t) => {
  const { email, ...account } = await givenAccount({ hasPassword: false })
  t.match(await post('/auth/set-initial-password', { password: 'Caf\u00e9-Cr\u00e8me-1' }, { as: account }), { status: 200 })
  t.match(await login(email, { password: 'Cafe\u0301-Cre\u0300me-1' }), { status: 200 })
})

t.test('after five wrong passwords in a row an address waits', async (t) => {
  for (const [kind, email] of [['known', (await givenAccount()).email], ['unknown', someEmail()]] as const) {
    await db.deleteFrom('wrong_passwords').execute()
    for (let times = 1; times <= 4; times++) t.match(await login(email, { password: 'Wrong-0ne' }), { status: 401 })
    t.ok((await waitOf())!.wait_until.getTime() <= Date.now(), `${kind}: four are free`)

    const waits = []
    for (let times = 5; times <= 13; times++) {
      await login(email, { password: 'Wrong-0ne' })
      waits.push(Math.round(((await waitOf())!.wait_until.getTime() - Date.now()) / 1_000))
      await endWait()
    }
    t.strictSame(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60], kind)
  }
})

t.test('within the wait even the right password is wrong, and after it is right', async (t) => {
  const { email } = await givenAccount()
  for (let times = 1; times <= 6; times++) await login(email, { password: 'Wrong-0ne' }).then(async () => { if (times < 6) await endWait() })
  t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.equal((await waitOf())?.times, 6, 'and what is tried within the wait does not lengthen it')
  await endWait()
  t.match(await login(email), { status: 200 })
  t.equal(await waitOf(), undefined, 'which forgets the wrong ones')
})

t.test('guesses at once are no way around the wait', async (t) => {
  const { email } = await givenAccount()
  const since = Date.now()
  const { tally } = await inParallel(16, async (index) => await login(email, index === 15 ? {} : { password: `Wrong-${index}` }))
  t.strictSame(tally, { '401 INVALID_CREDENTIALS': 16 })
  // On a busy machine the first wait, of a second, may be over before the last comparison.
  const times = (await waitOf())?.times ?? 0
  t.ok(times >= 5 && times <= 5 + Math.floor((Date.now() - since) / 1_000), String(times))
})

t.test('guesses from elsewhere do not keep the owner out of an account', async (t) => {
  const { email } = await givenAccount()
  const home = { from: '192.0.2.10' }
  t.match(await login(email, {}, home), { status: 200 })
  const attackers = Array.from({ length: 8 }, (_, number) => `198.51.${number}.1`)
  for (const from of attackers) t.match(await login(email, { password: 'Wrong-0ne' }, { from }), { status: 401, code: 'INVALID_CREDENTIALS' })
  await prolongWaits()
  t.match(await login(email, {}, { from: '198.51.99.1' }), { status: 401, code: 'INVALID_CREDENTIALS' }, 'all networks elsewhere wait together')
  t.match(await login(email, {}, { from: '192.0.2.200' }), { status: 200 }, 'the owner signs in at home')

  for (let times = 0; times < 5; times++) t.match(await login(email, { password: 'Wrong-0ne' }, home), { status: 401 })
  await prolongWaits()
  t.match(await login(email, {}, home), { status: 401 }, 'where wrong passwords bring about a wait, too')
  t.match(await login(email, {}, { from: '203.0.113.7' }), { status: 200 }, 'but not for another network of the owner')
})

t.test('the owner gets in from a new network by a reset, whatever is guessed meanwhile', async (t) => {
  const { email } = await givenAccount()
  const away = { from: '192.0.2.10' }
  const guess = async () => await login(email, { password: 'Wrong-0ne' }, { from: '198.51.100.7' })
  for (let times = 0; times < 6; times++) await guess()
  await post('/auth/forgot-password', { email }, away)
  const { token } = await linkMailedTo(email)
  t.match(await post('/auth/reset-password', { email, token, password: 'Other-Door-7' }, away), { status: 200 })
  for (let times = 0; times < 6; times++) await guess()
  await prolongWaits()
  t.match(await login(email, { password: 'Other-Door-7' }, away), { status: 200 })
})

t.test('a network is known no more after 180 days, and one of an attacker not after the owner has verified the address', async (t) => {
  const networksOf = async (accountId: string) =>
    (await db.selectFrom('account_networks').where('account_id', '=', accountId).select('network').execute()).map(({ network }) => network)
  const { id } = await givenAccount()
  t.strictSame(await networksOf(id), ['203.0.113.0/24'])
  await db.updateTable('account_networks').where('account_id', '=', id).set({ signed_in_at: new Date(Date.now() - 181 * 24 * 3_600_000) }).execute()
  await runHousekeeping(db)
  t.strictSame(await networksOf(id), [])

  const attacker = await givenAccount({ verified: false })
  await post('/auth/request-code', { email: attacker.email })
  t.match(await post('/auth/login-code', { email: attacker.email, code: await codeMailedTo(attacker.email) }, { from: '192.0.2.10' }), { status: 200 })
  t.strictSame(await networksOf(attacker.id), ['192.0.2.0/24'])
})

t.test('one who signs in on many devices at once is let in on all', async (t) => {
  const { email, ...account } = await givenAccount()
  const { tally } = await inParallel(20, async () => await login(email))
  t.strictSame(tally, { 200: 20 })
  t.match(await get('/auth/sessions', { as: account }), { data: { totalSessions: 21 } })
})

t.test('a new device is told of as such, a known one and the first are not', async (t) => {
  const { email, id } = await givenAccount()
  await db.deleteFrom('outbox').execute()
  await db.deleteFrom('sessions').where('account_id', '=', id).execute()
  for (const deviceName of ['phone', 'phone', 'tablet', 'phone', undefined]) await login(email, { deviceName, platform: 'ios', appVersion: String(Math.random()) })
  t.strictSame((await publishedEvents(id)).map(({ type, newDevice, method, deviceName }) => [type, newDevice, method, deviceName]), [
    ['session.started', false, 'PASSWORD', 'phone'],
    ['session.started', false, 'PASSWORD', 'phone'],
    ['session.started', true, 'PASSWORD', 'tablet'],
    ['session.started', false, 'PASSWORD', 'phone'],
    ['session.started', true, 'PASSWORD', null]
  ])
})

t.test('a hash made with other settings is made anew', async (t) => {
  const { email, id } = await givenAccount()
  const { default: argon2 } = await import('argon2')
  const hashOf = async () => (await db.selectFrom('accounts').where('id', '=', id).select('password_hash').executeTakeFirstOrThrow()).password_hash!
  await db.updateTable('accounts').set({ password_hash: await argon2.hash(password, { memoryCost: 8_192, timeCost: 2, parallelism: 1 }) }).where('id', '=', id).execute()
  t.match(await login(email), { status: 200 })
  t.match(await hashOf(), /^\$argon2id\$v=19\$m=12288,p=1,t=3\$/)
  t.match(await login(email), { status: 200 })
})

t.test('time does not tell a known address from an unknown one', async (t) => {
  const { email } = await givenAccount()
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (let round = 0; round < 60; round++) {
    for (const [kind, address] of [['known', email], ['unknown', someEmail()]] as const) {
      const since = performance.now()
      await login(address, { password: `Wrong-${round}` })
      times[kind].push(performance.now() - since)
    }
    await db.deleteFrom('wrong_passwords').execute()
  }
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length / 2]!
  const [known, unknown] = [median(times.known), median(times.unknown)]
  t.comment(`medians: known ${known.toFixed(2)} ms, unknown ${unknown.toFixed(2)} ms`)
  t.ok(Math.abs(known - unknown) < 0.25 * known)
})

t.test('a code by mail', async (t) => {
  const request = async (email: string, from?: string) => await post('/auth/request-code', { email }, from ? { from } : {})
  const loginCode = async (email: string, code: string) => await post('/auth/login-code', { email, code, platform: 'ios' })

  t.test('signs in, once', async (t) => {
    const { id, email } = await givenAccount({ hasPassword: false })
    t.strictSame(await request(email.toUpperCase()), { status: 200, success: true, message: 'If this address is registered, a code is on its way to it' })
    const code = await codeMailedTo(email)
    t.match(await loginCode(email, wrong(code)), { status: 400, success: false, code: 'INVALID_CODE' })
    const answer = await loginCode(email.toUpperCase(), code)
    t.match(answer, { status: 200, success: true, expiresIn: 900, user: { id, emailVerified: true } })
    t.ok(await canRefresh(answer))
    t.match(await loginCode(email, code), { status: 400, code: 'INVALID_CODE' })
    t.match((await publishedEvents(id)).at(-1), { type: 'session.started', method: 'CODE' })
  })

  t.test('is asked for in vain by who has no account, and is answered alike', async (t) => {
    const email = someEmail()
    t.strictSame(await request(email), { status: 200, success: true, message: 'If this address is registered, a code is on its way to it' })
    t.match(await loginCode(email, '000000'), { status: 400, code: 'INVALID_CODE' })
  })

  t.test('is good for ten minutes', async (t) => {
    const { id, email } = await givenAccount()
    await request(email)
    const code = await codeMailedTo(email)
    const { expires_at: expires } = await db.selectFrom('codes').where('account_id', '=', id).select('expires_at').executeTakeFirstOrThrow()
    t.ok(Math.abs(expires.getTime() - Date.now() - 600_000) < 5_000)
    await db.updateTable('codes').set({ expires_at: new Date() }).where('account_id', '=', id).execute()
    t.match(await loginCode(email, code), { status: 400, code: 'INVALID_CODE' })
  })

  t.test('is good for one purpose only', async (t) => {
    const { id, email } = await givenAccount({ verified: false })
    await post('/auth/resend-verification', { email })
    t.match(await loginCode(email, await codeMailedTo(email)), { status: 400, code: 'INVALID_CODE' })
    await request(email)
    const code = await codeMailedTo(email, 2)
    t.match(await post('/auth/verify-email', { userId: id, code }), { status: 400, code: 'INVALID_CODE' })
  })

  t.test('verifies the address, and whoever had registered it is out', async (t) => {
    const stranger = await givenAccount({ verified: false })
    const { email } = stranger
    await request(email)
    t.match(await loginCode(email, await codeMailedTo(email)), { status: 200, user: { emailVerified: true } })
    t.notOk(await canRefresh(stranger))
    t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  })

  t.test('lets nobody in who is kept out', async (t) => {
    const { id, email } = await givenAccount()
    await request(email)
    const code = await codeMailedTo(email)
    await db.updateTable('accounts').set({ barred_at: new Date() }).where('id', '=', id).execute()
    t.match(await loginCode(email, code), { status: 400, code: 'INVALID_CODE' })
    t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  })
})
