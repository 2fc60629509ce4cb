import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { PersonChanged } from '@tandem/contracts'
import { createMediaUrls } from '@tandem/media-url-kit'
import { testApp } from '../test/app.ts'
import { findOwnAccount } from './queries.ts'
import { describeUser } from './user.ts'
import {
  handleAccountsByToken,
  handleAddressOwner,
  handleAddressVerified,
  handleContact,
  handleMembership
} from './rpc.ts'

const { db, deps, rpcResults, handlers, get, login, givenAccount } = await testApp(t)

const profile = {
  gender: null,
  birthDate: null,
  height: null,
  heightUnit: 'cm',
  weight: null,
  weightUnit: 'kg',
  fitnessGoal: null,
  onboardingCompleted: true,
  onboardingStep: 3,
  experience: 'BEGINNER',
  timezone: 'Asia/Jakarta',
  username: 'ana',
  avatarUrl: null
}
const nutritionGoal = { dailyCalories: 2000, proteinTarget: 100, carbsTarget: 200, fatTarget: 60, goalType: 'MAINTAIN' }
const totals = { totalWorkouts: 3, totalFoodEntries: 4, nutritionGoal }
t.afterEach(() => {
  delete rpcResults.person
  delete rpcResults.totals
})

t.test("GET /auth/me returns the caller's own account with everything that belongs to it", async (t) => {
  const account = await givenAccount()
  Object.assign(rpcResults, { person: { name: 'Ana Putri', image: null, profile }, totals })
  await db.insertInto('subscriptions').values({
    account_id: account.id,
    plan_id: 'premium',
    status: 'ACTIVE',
    current_period_start: new Date('2026-01-01'),
    current_period_end: new Date('2099-01-01')
  }).execute()
  const { referral_code: referralCode } = await db.selectFrom('accounts').where('id', '=', account.id).select(
    'referral_code'
  ).executeTakeFirstOrThrow()

  const { user, ...rest } = await get('/auth/me', { as: account })
  t.strictSame(rest, { status: 200, success: true })
  t.match(user, { createdAt: /Z$/, updatedAt: /Z$/, subscription: { id: String } })
  t.strictSame({ ...user, createdAt: '', updatedAt: '', subscription: { ...user.subscription, id: '' } }, {
    id: account.id,
    name: 'Ana Putri',
    email: account.email,
    image: null,
    role: 'USER',
    emailVerified: true,
    createdAt: '',
    updatedAt: '',
    referralCode,
    profile,
    nutritionGoal,
    subscription: {
      id: '',
      planId: 'premium',
      status: 'ACTIVE',
      currentPeriodStart: '2026-01-01T00:00:00.000Z',
      currentPeriodEnd: '2099-01-01T00:00:00.000Z'
    },
    stats: { totalWorkouts: 3, totalFoodEntries: 4 }
  })
})

t.test('unknown fields are null', async (t) => {
  Object.assign(rpcResults, { totals: { ...totals, nutritionGoal: null } })
  t.match(await get('/auth/me', { as: await givenAccount() }), {
    status: 200,
    user: { name: 'Ana', profile: null, nutritionGoal: null, subscription: null }
  })
})

t.test('without the dashboard service /auth/me is 503 instead of incorrect', async (t) => {
  Object.assign(rpcResults, { person: { name: 'Ana', image: null, profile } })
  t.match(await get('/auth/me', { as: await givenAccount() }), {
    status: 503,
    success: false,
    code: 'SERVICE_UNAVAILABLE'
  })
})

t.test('a deleted or banned account is not found', async (t) => {
  Object.assign(rpcResults, { totals })
  const [gone, banned] = [await givenAccount(), await givenAccount()]
  await db.deleteFrom('accounts').where('id', '=', gone.id).execute()
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', banned.id).execute()
  for (const account of [gone, banned]) {
    t.match(await get('/auth/me', { as: account }), { status: 404, success: false, code: 'USER_NOT_FOUND' })
  }
})

t.test('/auth/me requires an access token', async (t) => {
  t.match(await get('/auth/me'), { status: 401, success: false, code: 'UNAUTHORIZED' })
  t.match(await get('/auth/me', { headers: { authorization: 'Bearer x.y.z' } }), {
    status: 401,
    success: false,
    code: 'INVALID_ACCESS_TOKEN'
  })
})

t.test('the newest version of a person wins, in any order of delivery and whatever else changes', async (t) => {
  const account = await givenAccount()
  const changeOf = (name: string) => ({
    accountId: account.id,
    name,
    username: 'ana',
    image: 'https://cdn.example.com/a.webp',
    bio: null,
    locale: 'id',
    timezone: 'Asia/Jakarta'
  })
  const deliverAt = async (name: string, at: Date) => {
    const handler = handlers.find(({ event }) => event === PersonChanged)!
    await handler.handle({
      specversion: '1.0',
      id: crypto.randomUUID(),
      source: 'test',
      type: PersonChanged.type,
      subject: account.id,
      time: at.toISOString(),
      datacontenttype: 'application/json',
      data: changeOf(name)
    })
  }
  const currentUser = async () => (await login(account.email)).user
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

  // The account changed after this event was published and before it was consumed.
  await deliverAt('Second', minutesAgo(5))
  t.match(await currentUser(), { name: 'Second', image: 'https://cdn.example.com/a.webp' })
  await deliverAt('First', minutesAgo(10))
  t.match(await currentUser(), { name: 'Second' })
  await deliver(handlers, PersonChanged.type, changeOf('Third'))
  t.match(await currentUser(), { name: 'Third' })
})

t.test('the copy of a picture is shown at the current media URL while profile is unavailable', async (t) => {
  const { id } = await givenAccount()
  const key = `public/${id}.webp`
  await deliver(handlers, PersonChanged.type, {
    accountId: id,
    name: 'Ana',
    username: 'ana',
    image: deps.mediaUrls.urlOf(key),
    bio: null,
    locale: 'id',
    timezone: 'Asia/Jakarta'
  })
  const account = await findOwnAccount(db, id, new Date())
  const imageAt = async (cdnUrl: string) =>
    (await describeUser({ ...deps, mediaUrls: createMediaUrls(cdnUrl) }, account!)).image
  t.equal(await imageAt('https://cdn.example.com'), `https://cdn.example.com/${key}`)
  t.equal(await imageAt('https://new.example/files'), `https://new.example/files/${key}`)
})

t.test('other services can call for the contact and the membership of an account', async (t) => {
  const [first, second] = [await givenAccount(), await givenAccount({ verified: false })]
  t.strictSame(await handleContact(deps).handle({ accountId: second.id }), {
    email: second.email,
    name: 'Ana',
    locale: 'en',
    emailVerified: false
  })
  t.equal(await handleContact(deps).handle({ accountId: crypto.randomUUID() }), null)

  const isVerified = async (accountId: string) => await handleAddressVerified(deps).handle({ accountId })
  t.strictSame([await isVerified(first.id), await isVerified(second.id), await isVerified(crypto.randomUUID())], [
    true,
    false,
    false
  ])

  const membership = async (accountId: string) =>
    await handleMembership(deps).handle({ accountId }) as { since: string, number: number } | null
  const [one, two] = [await membership(first.id), await membership(second.id)]
  t.match(one?.since, /Z$/)
  t.equal(two!.number, one!.number + 1)
  t.equal(await membership(crypto.randomUUID()), null)
})

t.test('other services can call for the owner of a verified address, and whether they are banned or leaving', async (t) => {
  const ownerOf = async (email: string) => await handleAddressOwner(deps).handle({ email })
  const [ana, unverified] = [await givenAccount(), await givenAccount({ verified: false })]
  t.same(await ownerOf(ana.email.toUpperCase()), { accountId: ana.id, isBannedOrLeaving: false })
  t.equal(await ownerOf(unverified.email), null)
  t.equal(await ownerOf('nobody@example.com'), null)
  for (const ended of ['paused_at', 'leaving_at', 'banned_at'] as const) {
    await db.updateTable('accounts').set({ [ended]: new Date() }).where('id', '=', ana.id).execute()
    t.match(await ownerOf(ana.email), { isBannedOrLeaving: ended !== 'paused_at' })
    await db.updateTable('accounts').set({ [ended]: null }).where('id', '=', ana.id).execute()
  }
})

t.test('other services can call for the accounts that systems know by their random names', async (t) => {
  const ana = await givenAccount()
  const { account_token: accountToken } = await db.selectFrom('accounts').where('id', '=', ana.id)
    .select('account_token').executeTakeFirstOrThrow()
  const call = async () =>
    await handleAccountsByToken(deps).handle({ accountTokens: [accountToken!, crypto.randomUUID()] })
  t.same(await call(), [{ accountToken, accountId: ana.id }])
  await db.updateTable('accounts').set({ expired_at: new Date() }).where('id', '=', ana.id).execute()
  t.same(await call(), [])
})
