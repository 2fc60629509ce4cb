import crypto, { randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { sql } from 'kysely'
import t from 'tap'
import {
  AccountRegistered,
  FactsChanged,
  MatchFacts,
  People,
  PeopleNamed,
  Person,
  PersonChanged,
  WeightLogged,
  WeightUnlogged
} from '@tandem/contracts'
import { generateUsername } from '@tandem/account-kit'
import { setLimits } from '@tandem/brand-kit/testing'
import { readSample } from '@tandem/contracts/samples'
import { deliver } from '@tandem/bus-kit/testing'
import { bearer } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'

const app = await testApp(t)
const { get, put, post, callRpc, handlers, identity, db, events, givenPerson } = app

const registered = (accountId: string) => ({ accountId, name: 'Ana', usernameSeed: 'ana.putri', locale: 'id' })

t.test('a registration creates and publishes a person with a neutral username once, also when redelivered', async (t) => {
  const accountId = randomUUID()
  for (let times = 0; times < 3; times++) await deliver(handlers, AccountRegistered.type, registered(accountId))
  t.match((await get(accountId, '/profile')).data.profile, {
    name: 'Ana',
    username: /^[a-z]+\d{4}$/,
    bio: null,
    image: null,
    gender: null,
    experience: 'BEGINNER',
    timezone: 'Asia/Jakarta',
    locale: 'id'
  })
  t.notMatch((await get(accountId, '/profile')).data.profile.username, 'ana')
  t.equal(
    (await events()).filter(({ type, data }) =>
      type === PersonChanged.type && (data as { accountId: string }).accountId === accountId
    ).length,
    1
  )
})

t.test('concurrent registrations get different usernames', async (t) => {
  const names = await Promise.all(
    Array.from({ length: 50 }, async () => (await get(await givenPerson(), '/profile')).data.profile.username as string)
  )
  t.equal(new Set(names).size, names.length)
})

t.test('a new person does not get a username that somebody else gave up', async (t) => {
  const [owner, accountId] = [await givenPerson(), randomUUID()]
  const { restore } = t.capture(crypto, 'randomInt', (min: number, max?: number) => max === undefined ? 0 : min)
  syncBuiltinESMExports()
  t.teardown(() => {
    restore()
    syncBuiltinESMExports()
  })
  const [givenUp, longer] = [generateUsername(4), generateUsername(5)]
  await put(owner, '/profile', { username: givenUp })
  t.match(await put(owner, '/profile', { username: 'owner.1' }), { status: 200 })
  await deliver(handlers, AccountRegistered.type, registered(accountId))
  t.match((await get(accountId, '/profile')).data.profile, { username: longer })
})

t.test('a reserved or misleading name is rejected on every route and never available', async (t) => {
  const ana = await givenPerson()
  for (const username of ['admin', 'tandem.support', '0fficial', 'adrnin', 't4ndem_team']) {
    t.match(await put(ana, '/profile', { username }), {
      status: 400,
      code: 'VALIDATION_ERROR',
      error: /username is reserved/
    }, username)
    t.equal((await get(ana, `/profile/username-available?username=${username}`)).data.available, false)
  }
  for (const name of ['Tandem Support', 'Ana\u202Eirtup', 'An\u200Ba']) {
    t.match(await put(ana, '/profile', { name }), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await post(ana, '/onboarding/save-profile', { name }), { status: 400, code: 'VALIDATION_ERROR' })
  }
  t.equal((await get(ana, '/profile')).data.profile.name, 'Ana')
  await db.updateTable('people').set({ username: 'support' }).where('account_id', '=', ana).execute()
  t.equal(
    (await put(ana, '/profile', { username: 'support', bio: 'Long here' })).status,
    200,
    'people keep the name they have'
  )
})

t.test('a name of one character, from an address such as q@example.com, can be sent back', async (t) => {
  const ana = await givenPerson('q')
  const { data: { profile } } = await get(ana, '/profile')
  t.match(await put(ana, '/profile', { name: profile.name, bio: 'Long here' }), { status: 200 })
  t.match(await post(ana, '/onboarding/save-profile', { name: ' q ' }), { status: 200 })
  for (const name of ['Q', 'é', '😀']) {
    const rejected = { status: 400, code: 'VALIDATION_ERROR', details: [{ field: 'name' }] }
    t.match(await put(ana, '/profile', { name }), rejected)
    t.match(await post(ana, '/onboarding/save-profile', { name }), rejected)
  }
  t.match(await put(ana, '/profile', { name: 'Qi' }), { status: 200 })
})

t.test('a missing profile is created on the first request, also by ten concurrent ones', async (t) => {
  const accountId = randomUUID()
  identity.accounts.set(accountId, { name: 'Late', image: 'https://cdn.example.com/late.webp', locale: 'id' })
  const responses = await Promise.all(
    Array.from({ length: 10 }, async () => (await get(accountId, '/profile')).data.profile.username)
  )
  t.equal(new Set(responses).size, 1)
  t.equal((await get(accountId, '/profile')).data.profile.image, 'https://cdn.example.com/late.webp')
  await deliver(handlers, AccountRegistered.type, registered(accountId))
  t.equal((await get(accountId, '/profile')).data.profile.name, 'Late', 'a late registration event changes nothing')
})

t.test('other services can call for a new person before the registration event arrives', async (t) => {
  const newcomers: string[] = Array.from({ length: 20 }, () => randomUUID())
  for (const accountId of newcomers) identity.accounts.set(accountId, { name: 'New', image: null, locale: 'id' })
  const ana = await givenPerson()
  const responses = await Promise.all(
    newcomers.map(async (accountId) => await callRpc(People, { accountIds: [ana, accountId, randomUUID()] }))
  )
  newcomers.forEach((accountId, number) => t.match(responses[number], [{ accountId: ana }, { accountId, name: 'New' }]))
  t.equal(
    (await events()).filter(({ data }) => newcomers.includes((data as { accountId: string }).accountId)).length,
    20
  )
})

t.test('unknown accounts are looked up once, and not considered unknown while identity is unavailable', async (t) => {
  const ids = Array.from({ length: 20 }, () => randomUUID())
  identity.isUnavailable = true
  await t.rejects(async () => await callRpc(People, { accountIds: ids }), { code: 'SERVICE_UNAVAILABLE' })
  identity.isUnavailable = false
  identity.calls.length = 0
  for (let times = 0; times < 5; times++) t.strictSame(await callRpc(People, { accountIds: ids }), [])
  t.equal(identity.calls.flat().length, ids.length)
})

t.test('each change has a later version than the one before, in events and RPC responses', async (t) => {
  const ana = await givenPerson()
  await Promise.all(Array.from({ length: 20 }, (_, number) => put(ana, '/profile', { bio: `bio ${number}` })))
  const published = (await events()).map(({ data }) => data as { accountId: string, bio: string, changedAt: string })
    .filter(({ accountId }) => accountId === ana)
  t.equal(new Set(published.map(({ changedAt }) => changedAt)).size, 20)
  const latest = published.toSorted((one, other) => one.changedAt < other.changedAt ? -1 : 1).at(-1)
  const [now] = await callRpc(People, { accountIds: [ana] }) as { bio: string, changedAt: string }[]
  t.match(now, { bio: latest?.bio, changedAt: latest?.changedAt })
})

t.test('while identity is unavailable, known people are served and others get 503', async (t) => {
  const ana = await givenPerson()
  identity.isUnavailable = true
  t.equal((await get(ana, '/profile')).status, 200)
  t.match(await get(randomUUID(), '/profile'), { status: 503, code: 'SERVICE_UNAVAILABLE' })
  identity.isUnavailable = false
})

t.test('a profile is changed field by field, and changes are published', async (t) => {
  const ana = await givenPerson()
  const body = {
    name: 'Ana Putri',
    username: 'Ana_P',
    bio: 'Runner',
    gender: 'FEMALE',
    birthDate: '1998-04-12',
    height: 165,
    heightUnit: 'feet',
    weight: 58.5,
    weightUnit: 'pound',
    fitnessGoal: 'BUILD_MUSCLE',
    experience: 'INTERMEDIATE',
    timezone: 'Europe/Paris',
    locale: 'en',
    motivations: ['stay_healthy'],
    favoriteSports: ['running'],
    activityStyle: ['solo'],
    preferredAvailability: ['morning'],
    preferredWorkoutTime: ['night'],
    workoutFrequency: 4,
    locationEnabled: false,
    pushNotifications: true
  }
  const { status, data } = await put(ana, '/profile', body)
  t.equal(status, 200)
  t.same(data.profile, {
    ...body,
    username: 'ana_p',
    image: null,
    picture: null,
    birthDate: '1998-04-12T00:00:00.000Z'
  })
  t.same((await put(ana, '/profile', data.profile)).data, data, 'a response can be sent back')
  t.same((await put(ana, '/profile', { bio: '' })).data.profile.bio, null)
  t.match(await callRpc(People, { accountIds: [ana, randomUUID()] }), [{
    accountId: ana,
    name: 'Ana Putri',
    username: 'ana_p'
  }])
  t.same(
    await callRpc(PeopleNamed, { usernames: ['ANA_P', 'ana', 'nobody.at.all'] }),
    await callRpc(People, { accountIds: [ana] })
  )
  t.match(await callRpc(Person, { accountId: ana }), {
    name: 'Ana Putri',
    completion: 70,
    profile: { fitnessGoal: 'BUILD_MUSCLE', username: 'ana_p', timezone: 'Europe/Paris' }
  })
})

t.test('an invalid field is rejected and changes nothing', async (t) => {
  const ana = await givenPerson()
  for (
    const body of [
      { username: 'ab' },
      { username: 'a'.repeat(31) },
      { username: 'a b c' },
      { username: 'änä' },
      { fitnessGoal: 'lazy' },
      { experience: 'PRO' },
      { height: 20 },
      { birthDate: '2020-01-01' }
    ]
  ) {
    t.match(
      await put(ana, '/profile', { name: 'Changed', ...body }),
      { status: 400, code: 'VALIDATION_ERROR' },
      JSON.stringify(body)
    )
  }
  t.equal((await get(ana, '/profile')).data.profile.name, 'Ana')
})

t.test('the weight is the later of the newest logged and the entered one, also after logs are deleted', async (t) => {
  const ana = await givenPerson()
  const read = async () => (await get(ana, '/profile')).data.profile.weight
  let sequence = 0
  const logged = async (kg: number, at: string, number = ++sequence) => {
    await deliver(handlers, WeightLogged.type, { accountId: ana, kg, at, previousAt: null }, { sequence: number })
    return await read()
  }
  const unlogged = async () => {
    await deliver(handlers, WeightUnlogged.type, { accountId: ana }, { sequence: ++sequence })
    return await read()
  }
  const [first, second, third] = ['2026-11-01T01:00:00.000Z', '2026-11-08T01:00:00.000Z', '2026-11-15T01:00:00.000Z']
  t.equal(await logged(70, first), 70)
  t.equal(await logged(405, third), 405)
  t.equal(await logged(70, first), 70, 'the newest was deleted')
  t.equal(await logged(71, second), 71, 'and another one logged, of an earlier time')
  t.equal(await logged(405, third, sequence - 2), 71, 'a late event changes nothing')
  t.equal(await unlogged(), null, 'no log is left, and none was entered')

  await put(ana, '/profile', { weight: 69 })
  t.equal(await logged(73, third), 69, 'a later entry in the profile stays')
  const later = new Date(Date.now() + 60_000).toISOString()
  t.equal(await logged(68, later), 68)
  await put(ana, '/profile', { weight: 68, height: 170 })
  t.equal(await logged(73, third), 69, 'the later log was deleted; sending its weight back was no entry')
  t.equal(await logged(200, later), 200)
  t.equal(await unlogged(), 69)
  t.match(await callRpc(Person, { accountId: ana }), { profile: { weight: 69 }, enteredWeight: 69 })
})

t.test('a logged weight, as dashboard publishes it, is shown and published wherever a weight is', async (t) => {
  const ana = await givenPerson()
  const sample = await readSample(WeightLogged) as { kg: number, at: string }
  await deliver(handlers, WeightLogged.type, { ...sample, accountId: ana })
  const weight = sample.kg
  t.match((await get(ana, '/profile')).data.profile, { weight })
  t.match((await get(ana, '/onboarding/status')).data.profile, { weight })
  t.match(await callRpc(Person, { accountId: ana }), { weighedAt: sample.at, profile: { weight } }, 'for /auth/me')
  t.match(await callRpc(MatchFacts, { accountId: ana }), { weight }, 'for a new FitMatch profile')
  const published = (await events()).filter(({ type, data }) =>
    type === FactsChanged.type && (data as { accountId: string }).accountId === ana
  )
  t.match(published.map(({ data }) => data), [{ weight, weighedAt: sample.at }], 'for FitMatch and the home screen')
})

t.test('a username begins and ends with a letter, digit or underscore, without two dots in a row; existing ones stay', async (t) => {
  const ana = await givenPerson()
  for (const username of ['ana.', '.ana', '...', 'a..na']) {
    t.match(await put(ana, '/profile', { username }), { status: 400, code: 'VALIDATION_ERROR' }, username)
    t.equal((await get(ana, `/profile/username-available?username=${username}`)).data.available, false)
  }
  await db.updateTable('people').set({ username: 'a..na.' }).where('account_id', '=', ana).execute()
  t.match(await put(ana, '/profile', { username: 'a..na.', bio: 'Long here' }), {
    status: 200,
    data: { profile: { username: 'a..na.' } }
  })
  t.equal((await put(ana, '/profile', { username: '_a.n.a_' })).status, 200)
})

t.test('a brand says how short and how long a username is', async (t) => {
  const [short, long] = ['ab', 'x'.repeat(31)]
  const ana = await givenPerson()
  for (const username of [short, long]) t.equal((await put(ana, '/profile', { username })).status, 400, username)
  setLimits(t, { usernameMinCharacters: 2, usernameMaxCharacters: 31 })
  const { put: putElsewhere, givenPerson: givenElsewhere } = await testApp(t)
  const ben = await givenElsewhere()
  for (const username of [short, long]) {
    t.equal((await putElsewhere(ben, '/profile', { username })).status, 200, username)
  }
  t.equal((await putElsewhere(ben, '/profile', { username: 'a' })).status, 400)
})

t.test('a given-up username rests 30 days before another person can take it; its owner can take it back', async (t) => {
  const [ana, ben] = [await givenPerson(), await givenPerson()]
  await put(ana, '/profile', { username: 'ana.first' })
  await put(ana, '/profile', { username: 'ana.second' })
  t.match(await put(ben, '/profile', { username: 'Ana.First' }), { status: 409, code: 'USERNAME_TAKEN' })
  t.equal((await get(ben, '/profile/username-available?username=ana.first')).data.available, false)
  t.equal((await get(ana, '/profile/username-available?username=ana.first')).data.available, true)
  t.match(await put(ana, '/profile', { username: 'ana.first' }), { status: 200 })
  t.match(await put(ben, '/profile', { username: 'ana.second' }), { status: 409, code: 'USERNAME_TAKEN' })
  await db.updateTable('reserved_usernames').set({ until: new Date() }).where('account_id', '=', ana).execute()
  t.match(await put(ben, '/profile', { username: 'ana.second' }), { status: 200 })
})

t.test('nobody keeps more than ten usernames that they gave up', async (t) => {
  const ana = await givenPerson()
  const rename = async (number: number) => await put(ana, '/profile', { username: `keeper.${number}` })
  const statuses = []
  for (let number = 0; number < 12; number++) statuses.push((await rename(number)).status)
  t.same(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429])

  t.equal((await get(ana, '/profile/username-available?username=keeper.3')).data.available, true)
  t.equal((await rename(3)).status, 200, 'a username that is taken back is not kept')
  await db.updateTable('reserved_usernames').set({ until: sql`now() + interval '3 days'` })
    .where('username', '=', 'keeper.5').execute()
  const response = await app.app.inject({
    method: 'PUT',
    url: '/profile',
    headers: bearer(ana),
    payload: { username: 'keeper.10' }
  })
  t.equal(response.statusCode, 429)
  const days = Number(response.headers['retry-after']) / (24 * 60 * 60)
  t.ok(days > 2.9 && days <= 3, 'until the first is free again')
})

t.test('of twenty concurrent requests for one username, in any case, one succeeds', async (t) => {
  const people = await Promise.all(Array.from({ length: 20 }, () => givenPerson()))
  const responses = await Promise.all(
    people.map((person, number) => put(person, '/profile', { username: number % 2 ? 'Champion' : 'champion' }))
  )
  t.same(responses.filter(({ status }) => status === 200).length, 1)
  t.same(responses.filter(({ status, code }) => status === 409 && code === 'USERNAME_TAKEN').length, 19)
  const winner = people[responses.findIndex(({ status }) => status === 200)]!
  const available = async (person: string) =>
    (await get(person, '/profile/username-available?username=CHAMPION')).data.available
  t.equal(await available(winner), true, 'it is available to its owner')
  t.equal(await available(people.find((person) => person !== winner)!), false)
  t.match(await get(winner, '/profile/username-available?username=x'), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('the time of a weight is that of the last request with a different weight', async (t) => {
  const ana = await givenPerson()
  t.match(await callRpc(Person, { accountId: ana }), { weighedAt: null })
  await post(ana, '/onboarding/save-profile', { weight: 60 })
  const first = await callRpc(Person, { accountId: ana }) as { weighedAt: string }
  await put(ana, '/profile', { weight: 60, height: 170 })
  t.match(
    await callRpc(Person, { accountId: ana }),
    { weighedAt: first.weighedAt },
    'the same weight does not update the time'
  )
  await put(ana, '/profile', { weight: 61 })
  const second = await callRpc(Person, { accountId: ana }) as { weighedAt: string }
  t.ok(second.weighedAt > first.weighedAt)
  t.match((await events()).at(-1), {
    type: FactsChanged.type,
    data: { accountId: ana, weight: 61, weighedAt: second.weighedAt }
  })
})

t.test('the match facts of a person', async (t) => {
  const ana = await givenPerson()
  await post(ana, '/onboarding/save-profile', {
    gender: 'FEMALE',
    birthDate: '1998-04-12',
    height: 165.4,
    bio: 'Runner',
    cityId: '100',
    photos: ['https://images.example/1.webp']
  })
  await post(ana, '/onboarding/save-preferences', { favoriteSports: ['running'], preferredAvailability: ['morning'] })
  t.match(await callRpc(MatchFacts, { accountId: ana }), {
    name: 'Ana',
    bio: 'Runner',
    gender: 'FEMALE',
    birthDate: '1998-04-12',
    height: 165.4,
    city: 'Denpasar',
    latitude: -8.65,
    longitude: 115.22,
    timezone: 'Asia/Makassar',
    photos: ['https://images.example/1.webp'],
    favoriteSports: ['running'],
    preferredAvailability: ['morning']
  })
  await post(ana, '/onboarding/save-permissions', {
    locationEnabled: true,
    pushNotifications: true,
    latitude: -8.7,
    longitude: 115.1
  })
  t.match(
    await callRpc(MatchFacts, { accountId: ana }),
    { latitude: -8.7, longitude: 115.1 },
    'the location of the phone takes precedence'
  )
  t.equal(await callRpc(MatchFacts, { accountId: randomUUID() }), null)
  t.equal(await callRpc(Person, { accountId: randomUUID() }), null)
})

t.test('concurrent registration events and changes lose nothing', async (t) => {
  const ana = await givenPerson()
  const responses = await Promise.all(
    Array.from(
      { length: 20 },
      (_, number) => put(ana, '/profile', number % 2 ? { height: 100 + number } : { weight: 40 + number })
    )
  )
  t.ok(responses.every(({ status }) => status === 200))
  const { height, weight } = (await get(ana, '/profile')).data.profile
  t.ok(height > 100 && weight >= 40, 'no change overwrote another field')
  t.equal((await db.selectFrom('people').select('account_id').where('account_id', '=', ana).execute()).length, 1)
})
