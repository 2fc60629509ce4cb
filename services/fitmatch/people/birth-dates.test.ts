import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { FactsChanged } from '@tandem/contracts'
import { activityApi, plan } from '../test/activities.ts'
import { createFacts, testApp, type Member } from '../test/app.ts'

// A FitMatch profile that was created before its owner entered a birth date.

const app = await testApp(t)
const { get, post, put, member, person, createMatch, handlers } = app
const { create } = activityApi(app)

const setMainBirthDate = async (accountId: string, birthDate: string | null, changedAt = new Date()) =>
  await deliver(handlers, FactsChanged.type, {
    accountId,
    ...createFacts('Ben', { birthDate }),
    changedAt: changedAt.toISOString()
  })
const ageOf = async ({ id }: { id: string }) => (await get(id, '/fitmatch/profile')).data.age as number | null

t.test('people are invited, accepted and can host as soon as they set a birth date in the main profile', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben', { birthDate: null })]
  t.match(await post(ben.id, '/activities', plan()), { status: 403, code: 'AGE_RESTRICTED' })

  await setMainBirthDate(ben.id, '1995-05-05')
  await createMatch(ana, ben)
  const invited = await post(ana.id, '/activities', plan({ userIds: [ben.id] }))
  t.equal(invited.status, 201)
  t.match(await post(ben.id, `/activities/${invited.data.activity.id}/respond`, { accept: true, version: 1 }), {
    status: 200
  })
  t.match(await post(ben.id, '/activities', plan()), { status: 201 })

  const { id } = await create(ana, { visibility: 'OPEN' })
  t.match(await post(ben.id, `/activities/${id}/join`), { status: 200 })
  t.match(await post(ana.id, `/activities/${id}/requests/${ben.id}`, { accept: true }), { status: 200 })
})

t.test('a profile follows the main profile until its owner sets another birth date', async (t) => {
  const year = new Date().getUTCFullYear()
  const following: Member = await member('Ana', { birthDate: '1995-05-05' })
  await setMainBirthDate(following.id, `${year - 40}-01-01`)
  t.equal(await ageOf(following), 40)
  await setMainBirthDate(following.id, `${year - 30}-01-01`, new Date(0))
  t.equal(await ageOf(following), 40, 'not a late event')
  await setMainBirthDate(following.id, null)
  t.equal(await ageOf(following), 40)

  const ownDate = { birthDate: `${year - 50}-01-01` }
  const created = await member('Ben', { fields: ownDate, birthDate: null })
  const changed = await member('Cleo', { birthDate: '1995-05-05' })
  t.match(await put(changed.id, '/fitmatch/profile', ownDate), { status: 200 })
  for (const each of [created, changed]) {
    await setMainBirthDate(each.id, '1995-05-05')
    t.equal(await ageOf(each), 50)
  }
})

t.test('a birth date that is set while a profile is created is not lost', async (t) => {
  const id = person('Ana', { birthDate: null, changedAt: '2026-01-31T08:00:00.000Z' })
  await setMainBirthDate(id, '1995-05-05', new Date('2026-01-31T08:00:01.000Z'))
  t.match(await post(id, '/fitmatch/profile', {}), { status: 201 })
  t.type(await ageOf({ id }), 'number')
})

t.test('a birth date below the minimum age lets nobody meet others', async (t) => {
  const young = await member('Yuki', { birthDate: null })
  await setMainBirthDate(young.id, Temporal.Now.plainDateISO('UTC').subtract({ years: 17 }).toString())
  t.match(await post(young.id, '/activities', plan()), { status: 403, code: 'AGE_RESTRICTED' })
})
