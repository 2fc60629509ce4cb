import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { password, randomEmail, testApp } from '../test/app.ts'
import { decideForgottenReferrals, decideReferral } from './actions.ts'
import { mailboxOf } from '../mailboxes.ts'

// A provider whose tokens are the addresses that they vouch for.
const provider = async (email: string) => ({ subject: email, email, name: undefined })
const { db, deps, get, post, givenAccount, givenSession, codeMailedTo, publishedEvents } = await testApp(t, {
  providers: { PROVIDER_A: provider, PROVIDER_B: provider }
})
const DAY_MS = 24 * 60 * 60 * 1_000

async function givenReferrer ({ email = randomEmail() } = {}) {
  const account = await givenAccount({ email })
  const { referral_code: code } = await db.updateTable('accounts').where('id', '=', account.id)
    .set({ referral_code: randomUUID().toUpperCase() }).returning('referral_code').executeTakeFirstOrThrow()
  return {
    ...account,
    code,
    read: async () => (await get('/account/referrals', { as: account })).data,
    /** The days of premium that are left. */
    premiumDays: async () => await premiumDaysOf(account.id)
  }
}

async function premiumDaysOf (accountId: string) {
  const row = await db.selectFrom('subscriptions').where('account_id', '=', accountId)
    .select(['plan_id', 'current_period_end as end']).executeTakeFirst()
  if (row) t.equal(row.plan_id, 'premium')
  return row ? Math.round((row.end.getTime() - Date.now()) / DAY_MS) : 0
}

/** Registers by a provider, which verifies the address at once. @returns the id of the account */
const join = async (referralCode: string, email = randomEmail(), more: object = {}) => {
  const { status, user } = await post('/auth/provider-a', { idToken: email, referralCode, ...more })
  t.equal(status, 201)
  return user.id as string
}

t.test('a registration with a code counts when its address is verified, once, and both get premium', async (t) => {
  const ana = await givenReferrer()
  const email = randomEmail()
  const { user, accessToken } = await post('/auth/register', {
    email,
    password,
    name: 'Ben',
    referralCode: ` ${ana.code.toLowerCase()} `
  })
  t.strictSame(await ana.read(), {
    code: ana.code,
    shareUrl: `https://tandem.example/invite/${ana.code}`,
    count: 1,
    verifiedCount: 0,
    rewardDays: 0,
    redemptions: [{ name: 'Ben', joinedAt: (await ana.read()).redemptions[0].joinedAt, isVerified: false }]
  })
  t.equal(await ana.premiumDays(), 0)

  const code = await codeMailedTo(email)
  const verify = async () => await post('/auth/verify-email', { userId: user.id, code }, { as: { accessToken } })
  await Promise.all([verify(), verify(), verify()])
  await verify()
  t.match(await ana.read(), { count: 1, verifiedCount: 1, rewardDays: 7, redemptions: [{ isVerified: true }] })
  t.same([await ana.premiumDays(), await premiumDaysOf(user.id)], [7, 7])
  const events = (await publishedEvents(ana.id)).filter(({ type }) => type === 'referral.counted')
  t.strictSame(events, [{
    type: 'referral.counted',
    referrerId: ana.id,
    referredId: user.id,
    referrerDays: 7,
    referredDays: 7
  }])
  t.match((await get('/auth/me', { as: { accessToken } })).status, 503, 'the dashboard of this test is unavailable')
})

t.test('a provider sign-up counts at once, for a new account only, and adds to the end of what runs', async (t) => {
  const ana = await givenReferrer()
  const email = randomEmail()
  const ben = await join(ana.code, email)
  t.match(await ana.read(), { count: 1, verifiedCount: 1, rewardDays: 7 })
  t.equal((await post('/auth/provider-a', { idToken: email, referralCode: ana.code })).status, 200)
  t.match(await ana.read(), { count: 1 })
  t.equal((await post('/auth/provider-b', { identityToken: randomEmail(), referralCode: ana.code })).status, 201)
  t.same([await ana.premiumDays(), await premiumDaysOf(ben)], [14, 7])
  await join('NOSUCHCODE')
})

t.test('nobody refers themselves: not from the same mailbox, and not on the same device', async (t) => {
  const ana = await givenReferrer({ email: `ana.putri-${randomUUID()}@gmail.com` })
  await givenSession(ana, { device: { deviceId: 'phone-1' } })
  const [local] = ana.email.split('@') as [string]
  await join(ana.code, `${local}+second@gmail.com`)
  await join(ana.code, `${local.replace('.', '')}@googlemail.com`)
  await join(ana.code, randomEmail(), { deviceId: 'phone-1' })
  t.match(await ana.read(), { count: 3, verifiedCount: 0, rewardDays: 0 })
  t.equal(await ana.premiumDays(), 0)
  await join(ana.code, randomEmail(), { deviceId: 'phone-2' })
  t.match(await ana.read(), { count: 4, verifiedCount: 1 }, 'a flatmate on the same network counts')
  await join(ana.code, randomEmail(), { deviceId: 'phone-2' })
  const mailbox = randomEmail()
  await join(ana.code, mailbox)
  await join(ana.code, mailbox.replace('@', '+again@'))
  t.match(await ana.read(), { count: 7, verifiedCount: 2 }, 'each mailbox and each device counts once')
})

t.test('the id of a device is stored as a digest only', async (t) => {
  const ana = await givenReferrer()
  const id = await join(ana.code, randomEmail(), { deviceId: 'phone-3' })
  const { rows } = await sql<{ text: string }>`
    select sessions::text as text from sessions where account_id = ${id}`.execute(db)
  t.equal(rows.length, 1)
  t.notMatch(rows[0]?.text, /phone-3/)
})

t.test('a mailbox is one, however its address is written', (t) => {
  t.equal(mailboxOf('ana+gym@example.com'), 'ana@example.com')
  t.equal(mailboxOf('a.n.a+gym@googlemail.com'), 'ana@gmail.com')
  t.not(mailboxOf('a.na@example.com'), mailboxOf('ana@example.com'))
  t.end()
})

t.test('a farm of 200 accounts earns nothing beyond the cap', async (t) => {
  const farmer = await givenReferrer()
  const waiting = Array.from({ length: 200 }, () => randomEmail())
  const work = async () => {
    for (let email = waiting.pop(); email; email = waiting.pop()) await join(farmer.code, email)
  }
  await Promise.all(Array.from({ length: 8 }, work))
  const { count, verifiedCount, rewardDays, redemptions } = await farmer.read()
  t.same([count, verifiedCount, rewardDays, redemptions.length], [200, 50, 90, 100])
  t.equal(await farmer.premiumDays(), 90)
  const { days } = await db.selectFrom('referral_rewards').where('is_referrer', '=', false)
    .where(
      'account_id',
      'in',
      (query) => query.selectFrom('referrals').where('referrer_id', '=', farmer.id).select('account_id')
    )
    .select(sql<number>`sum(days)::int`.as('days')).executeTakeFirstOrThrow()
  t.equal(days, 50 * 7, 'those beyond the cap get nothing either')
})

t.test('the cap of a year frees what is older, and the erasure of friends does not', async (t) => {
  const ana = await givenReferrer()
  const give = async (isReferrer: boolean, days: number, ageDays: number) =>
    await db.insertInto('referral_rewards')
      .values({
        account_id: ana.id,
        is_referrer: isReferrer,
        days,
        granted_at: new Date(Date.now() - ageDays * DAY_MS)
      })
      .execute()
  await give(true, 50, 400)
  await give(true, 86, 300)
  await join(ana.code)
  t.equal(await ana.premiumDays(), 4)
  await join(ana.code)
  t.match(await ana.read(), { verifiedCount: 2, rewardDays: 140 })

  await db.deleteFrom('referrals').where('referrer_id', '=', ana.id).execute()
  for (let each = 0; each < 46; each++) await give(true, 0, 1)
  await join(ana.code)
  t.match(await ana.read(), { count: 1, verifiedCount: 0 }, '50 have counted before')
})

t.test('what a crash left undecided is decided later; without days both are only notified', async (t) => {
  const [ana, ben] = [await givenReferrer(), await givenAccount({ verified: false })]
  await db.insertInto('referrals').values({ account_id: ben.id, referrer_id: ana.id }).execute()
  await decideForgottenReferrals(deps)
  t.match(await ana.read(), { count: 1, verifiedCount: 0 })
  await db.updateTable('accounts').set({ email_verified_at: new Date() }).where('id', '=', ben.id).execute()
  await Promise.all([decideForgottenReferrals(deps), decideReferral(deps, ben.id)])
  t.match(await ana.read(), { verifiedCount: 1, rewardDays: 7 })

  const cara = await givenAccount()
  await db.insertInto('referrals').values({ account_id: cara.id, referrer_id: ana.id }).execute()
  await decideReferral({ ...deps, referralRewardDays: 0 }, cara.id)
  t.match(await ana.read(), { verifiedCount: 2, rewardDays: 7 })
  t.match((await publishedEvents(ana.id)).at(-1), { type: 'referral.counted', referrerDays: 0, referredDays: 0 })
  t.equal(await premiumDaysOf(cara.id), 0)
})

t.test('nobody counts for a banned person, and people that nobody sees have no name', async (t) => {
  const ana = await givenReferrer()
  const ben = await join(ana.code)
  await db.updateTable('accounts').set({ paused_at: new Date() }).where('id', '=', ben).execute()
  t.match((await ana.read()).redemptions, [{ name: null, isVerified: true }])
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', ana.id).execute()
  const cara = await join(ana.code)
  t.equal(await premiumDaysOf(cara), 0)
})
