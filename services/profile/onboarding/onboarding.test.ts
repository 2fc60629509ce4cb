import { randomUUID } from 'node:crypto'
import t from 'tap'
import { MatchFacts, People, Person } from '@tandem/contracts'
import { testApp } from '../test/app.ts'

const app = await testApp(t)
const { get, post, callRpc, events, db, givenPerson } = app
const save = (account: string, body: object) => post(account, '/onboarding/save-profile', body)
const status = async (account: string) => (await get(account, '/onboarding/status')).data

const photos = (count: number) =>
  Array.from({ length: count }, (_, index) => `https://images.example/photos/${index}.webp`)
const years = (count: number, days = 0, zone = 'Asia/Jakarta') =>
  Temporal.Now.plainDateISO(zone).subtract({ years: count }).add({ days }).toString()

t.test('a new person has completed no step', async (t) => {
  const ana = await givenPerson('Ana')
  t.same(await status(ana), {
    isCompleted: false,
    currentStep: 0,
    currentSubStep: 0,
    completedAt: null,
    skippedAt: null,
    profile: {
      name: 'Ana',
      gender: null,
      birthDate: null,
      height: null,
      heightUnit: 'cm',
      weight: null,
      weightUnit: 'kg',
      photos: [],
      bio: null,
      communityRulesAccepted: false,
      countryId: null,
      regionId: null,
      cityId: null,
      locale: 'en',
      timezone: 'Asia/Jakarta',
      avatarUrl: null,
      motivations: [],
      favoriteSports: [],
      activityStyle: [],
      preferredAvailability: [],
      preferredWorkoutTime: [],
      workoutFrequency: null,
      fitnessGoal: null,
      experience: 'BEGINNER',
      locationEnabled: null,
      pushNotifications: null
    }
  })
})

t.test('onboarding that is resumed at each sub-step ends with a completed profile', async (t) => {
  const ana = await givenPerson('Ana')
  const steps: object[] = [
    { communityRulesAccepted: true },
    {},
    { name: 'Ana Putri' },
    { gender: 'FEMALE' },
    { birthDate: '1998-04-12' },
    { height: 165, heightUnit: 'feet', weight: 58.5, weightUnit: 'pound' },
    { photos: photos(2) },
    { bio: 'Runner' },
    { countryId: '102', regionId: '10', cityId: '100' }
  ]
  for (const [subStep, fields] of steps.entries()) {
    t.match(await save(ana, { ...fields, subStep }), { status: 200, success: true, data: { message: String } })
    t.match(await status(ana), { currentStep: 0, currentSubStep: subStep })
  }
  await save(ana, { completed: true })
  t.match(await status(ana), {
    currentStep: 1,
    currentSubStep: 8,
    isCompleted: false,
    profile: {
      name: 'Ana Putri',
      gender: 'FEMALE',
      birthDate: '1998-04-12',
      height: 165,
      heightUnit: 'feet',
      weight: 58.5,
      weightUnit: 'pound',
      photos: photos(2),
      bio: 'Runner',
      communityRulesAccepted: true,
      countryId: '102',
      regionId: '10',
      cityId: '100',
      timezone: 'Asia/Makassar',
      avatarUrl: photos(2)[0]
    }
  })

  const preferences = {
    motivations: ['stay_healthy'],
    favoriteSports: ['running', 'yoga'],
    activityStyle: ['solo'],
    preferredAvailability: ['morning'],
    preferredWorkoutTime: ['early_morning'],
    workoutFrequency: 3
  }
  t.match(await post(ana, '/onboarding/save-preferences', { ...preferences, subStep: 4, completed: true }), {
    status: 200,
    success: true,
    message: String
  })
  t.match(await status(ana), { currentStep: 2, currentSubStep: 4, profile: preferences })

  t.match(
    await post(ana, '/onboarding/save-permissions', {
      locationEnabled: true,
      pushNotifications: false,
      latitude: -8.6,
      longitude: 115.2
    }),
    {
      status: 200,
      success: true,
      message: String,
      data: { onboardingCompleted: true, locationEnabled: true, pushNotifications: false }
    }
  )
  const done = await status(ana)
  const permissions = { locationEnabled: true, pushNotifications: false }
  t.match(done, { currentStep: 3, isCompleted: true, completedAt: String, profile: { ...preferences, ...permissions } })
  t.match((await get(ana, '/profile')).data.profile, { ...preferences, ...permissions })
  t.match(await callRpc(Person, { accountId: ana }), {
    name: 'Ana Putri',
    image: photos(2)[0],
    completion: 100,
    profile: { onboardingCompleted: true, onboardingStep: 3, birthDate: '1998-04-12T00:00:00.000Z', height: 165 }
  })

  await save(ana, { name: 'Ana P', completed: true })
  t.match(
    await status(ana),
    { currentStep: 3, completedAt: done.completedAt, profile: { name: 'Ana P' } },
    'saving an earlier step again changes only its fields'
  )
})

t.test('saving a later step first skips to it, and permissions complete onboarding from any step', async (t) => {
  const ana = await givenPerson('Ana')
  await post(ana, '/onboarding/save-preferences', { completed: true })
  t.match(await status(ana), { currentStep: 2 })
  const ben = await givenPerson('Ben')
  await post(ben, '/onboarding/save-permissions', {
    locationEnabled: false,
    pushNotifications: false,
    latitude: 1,
    longitude: 1
  })
  t.match(await status(ben), { currentStep: 3, isCompleted: true })
  const stored = await db.selectFrom('people').select('latitude').where('account_id', '=', ben).executeTakeFirst()
  t.same(stored, { latitude: null }, 'coordinates without permission are not stored')
})

t.test('every field is accepted at its limits and rejected beyond them, without saving anything', async (t) => {
  const ana = await givenPerson('Ana')
  const good: object[] = [
    { name: 'Al' },
    { birthDate: years(13) },
    { birthDate: years(120) },
    { birthDate: years(121, 1) },
    { height: 50 },
    { height: 300 },
    { weight: 20 },
    { weight: 500 },
    { photos: [] },
    { photos: photos(6) },
    { bio: 'x'.repeat(500) },
    { bio: '' },
    { subStep: 0 },
    { subStep: 8 },
    { timezone: 'America/New_York' },
    { timezone: 'Asia/Jakarta' },
    { locale: 'en-GB' },
    { gender: 'OTHER' },
    { heightUnit: 'cm' },
    { weightUnit: 'kg' },
    { completed: false },
    {}
  ]
  for (const body of good) t.equal((await save(ana, body)).status, 200, JSON.stringify(body).slice(0, 60))
  const before = await status(ana)
  const bad: object[] = [
    { name: 'A' },
    { name: '  A  ' },
    { birthDate: years(13, 1) },
    { birthDate: years(121, 0) },
    { birthDate: '2024-02-30' },
    { birthDate: 'yesterday' },
    { birthDate: '2001-02-29T00:00:00.000Z' },
    { birthDate: '2000-01-02T17:00:00.000Z' },
    { birthDate: '2000-01-02T00:00:00+07:00' },
    { birthDate: 946684800 },
    { height: 49.9 },
    { height: 300.1 },
    { height: '170' },
    { weight: 19.9 },
    { weight: 500.1 },
    { photos: photos(7) },
    { photos: ['javascript:alert(1)'] },
    { photos: 'one' },
    { bio: 'x'.repeat(501) },
    { subStep: -1 },
    { subStep: 9 },
    { subStep: 1.5 },
    { timezone: 'Mars/Olympus' },
    { timezone: '+07:00' },
    { timezone: 'IST' },
    { locale: 5 },
    { gender: 'female' },
    { heightUnit: 'm' },
    { weightUnit: 'stone' },
    { communityRulesAccepted: 'yes' },
    { name: 'a\u0000b' }
  ]
  for (const body of bad) {
    t.match(
      await save(ana, body),
      { status: 400, success: false, code: 'VALIDATION_ERROR', error: String },
      JSON.stringify(body).slice(0, 60)
    )
  }
  t.same((await save(ana, { name: null, bio: null, photos: null })).status, 200, 'null is the same as an omitted field')
  t.same(await status(ana), before)
})

t.test('the answers of onboarding can be changed in the profile, with the same limits', async (t) => {
  const ana = await givenPerson('Ana')
  await post(ana, '/onboarding/save-permissions', {
    locationEnabled: true,
    pushNotifications: true,
    latitude: -8.6,
    longitude: 115.2
  })
  const answers = {
    motivations: ['stay_healthy'],
    favoriteSports: ['yoga'],
    activityStyle: ['solo'],
    preferredAvailability: ['morning'],
    preferredWorkoutTime: ['evening', 'night'],
    workoutFrequency: 5,
    locationEnabled: false,
    pushNotifications: false
  }
  t.match(await app.put(ana, '/profile', answers), { status: 200, data: { profile: answers } })
  t.match((await status(ana)).profile, answers)
  t.match((await app.put(ana, '/profile', { bio: 'Runner' })).data.profile, answers, 'omitted fields stay')
  const stored = await db.selectFrom('people').select('latitude').where('account_id', '=', ana).executeTakeFirst()
  t.same(stored, { latitude: null }, 'the position is deleted with its permission')
  for (
    const bad of [{ favoriteSports: ['quidditch'] }, { preferredWorkoutTime: ['noon'] }, { workoutFrequency: 8 }, {
      pushNotifications: 'no'
    }]
  ) {
    t.match(await app.put(ana, '/profile', bad), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(bad))
  }
  t.match(await callRpc(MatchFacts, { accountId: ana }), {
    preferredWorkoutTime: ['evening', 'night'],
    workoutFrequency: 5
  })
  t.match(await callRpc(People, { accountIds: [ana] }), [{ pushNotifications: false }])
  const published = (await events()).filter(({ data }) => (data as { accountId: string }).accountId === ana)
  t.match(published.findLast(({ type }) => type === 'profile.person.changed.v1')?.data, { pushNotifications: false })
  t.match(published.findLast(({ type }) => type === 'profile.facts.changed.v1')?.data, { workoutFrequency: 5 })
})

t.test('a locale with an underscore is accepted', async (t) => {
  const ana = await givenPerson('Ana')
  for (const locale of ['id', 'en-GB', 'zh_Hant_TW']) {
    await save(ana, { locale })
    t.equal((await status(ana)).profile.locale, locale.replaceAll('_', '-'))
  }
  t.equal((await app.put(ana, '/profile', { locale: 'en_US' })).data.profile.locale, 'en-US')
})

t.test('a locale never refuses what else is sent: its language and region are kept, or it is ignored', async (t) => {
  const ana = await givenPerson('Ana')
  const locales = [
    ['en-US-u-hc-h23', 'en-US'],
    ['en-ID-u-fw-mon-mu-celsius', 'en-ID'],
    ['en_US@calendar=japanese', 'en-US'],
    ['x y', 'en-US'],
    ['x'.repeat(10_000), 'en-US'],
    ['', 'en-US']
  ] as const
  for (const [index, [locale, stored]] of locales.entries()) {
    t.equal((await save(ana, { locale, name: `Ana ${index}` })).status, 200, locale.slice(0, 40))
    t.match(await status(ana), { profile: { locale: stored, name: `Ana ${index}` } })
    t.match(await app.put(ana, '/profile', { locale, bio: locale.slice(0, 40) }), {
      status: 200,
      data: { profile: { locale: stored } }
    })
  }
})

t.test('a birth date is accepted as midnight, as in responses', async (t) => {
  const ana = await givenPerson('Ana')
  for (
    const birthDate of ['1998-04-12', '1999-04-12T00:00:00.000Z', '2000-04-12T00:00:00Z', '2000-02-29T00:00:00.000']
  ) {
    t.equal((await save(ana, { birthDate })).status, 200, birthDate)
    t.equal((await status(ana)).profile.birthDate, birthDate.slice(0, 10))
  }
  t.match((await save(ana, { birthDate: '2000-02-30' })).error, 'birthDate must be a date such as')
})

t.test('an empty place id is the same as an omitted one', async (t) => {
  const ana = await givenPerson('Ana')
  t.equal((await save(ana, { countryId: '102', regionId: '', cityId: '' })).status, 200)
  t.match(await status(ana), { profile: { countryId: '102', regionId: null, cityId: null } })
  t.equal((await save(ana, { countryId: '', regionId: '', cityId: '', name: 'Ana Putri' })).status, 200)
  t.match(await status(ana), { profile: { countryId: '102', name: 'Ana Putri' } })
})

t.test('an age is calculated on the current day in the time zone of the person', async (t) => {
  const ana = await givenPerson('Ana')
  // It is never the same day in these two zones.
  const [west, east] = ['Pacific/Pago_Pago', 'Pacific/Kiritimati']
  const birthDate = years(13, 0, east)
  t.match(await save(ana, { birthDate, timezone: west }), { status: 400, code: 'VALIDATION_ERROR' })
  t.equal((await save(ana, { birthDate, timezone: east })).status, 200)
  t.equal((await save(ana, { birthDate })).status, 200, 'also with the stored time zone')
  await save(ana, { timezone: west })
  t.equal((await save(ana, { birthDate })).status, 400)
  t.equal((await app.put(ana, '/profile', { birthDate })).status, 400)
  t.equal((await app.put(ana, '/profile', { birthDate, timezone: east })).status, 200)
})

t.test('a time zone is stored as IANA spells it, and one that cannot be read counts as UTC', async (t) => {
  const ana = await givenPerson('Ana')
  t.match(await app.put(ana, '/profile', { timezone: 'IST' }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await app.put(ana, '/profile', { timezone: 'asia/tokyo' }), { data: { profile: { timezone: 'Asia/Tokyo' } } })
  await save(ana, { timezone: 'america/new_york' })
  t.match(await status(ana), { profile: { timezone: 'America/New_York' } })

  await app.db.updateTable('people').set({ timezone: 'IST' }).where('account_id', '=', ana).execute()
  t.equal((await save(ana, { birthDate: '1998-04-12' })).status, 200)
  t.match(await app.put(ana, '/profile', { birthDate: '1998-04-13' }), {
    status: 200,
    data: { profile: { timezone: 'UTC' } }
  })
})

t.test('one photo alone does not complete the step; none and two do', async (t) => {
  const ana = await givenPerson('Ana')
  t.match(await save(ana, { photos: photos(1), completed: true }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await status(ana), { currentStep: 0, profile: { photos: [] } })
  t.equal((await save(ana, { photos: photos(1) })).status, 200)
  t.equal((await save(ana, { completed: true })).status, 400)
  t.equal((await save(ana, { photos: [...photos(1), ...photos(1)], completed: true })).status, 400)
  t.equal((await save(ana, { photos: [...photos(1), ...photos(1)] })).status, 200)
  t.match(await status(ana), { profile: { photos: photos(1) } }, 'the same photo twice is one')
  t.equal((await save(ana, { photos: photos(2), completed: true })).status, 200)
  t.equal((await save(await givenPerson('Ben'), { completed: true })).status, 200)
})

t.test('preferences are validated against the lists and their limits', async (t) => {
  const ana = await givenPerson('Ana')
  const prefer = (body: object) => post(ana, '/onboarding/save-preferences', body)
  const sports = (await db.selectFrom('options').select('option_id').where('type', '=', 'sport').execute()).map((row) =>
    row.option_id
  )
  t.equal((await prefer({ favoriteSports: sports.slice(0, 50), workoutFrequency: 1 })).status, 200)
  t.equal(
    (await prefer({
      workoutFrequency: 7,
      preferredWorkoutTime: ['early_morning', 'morning', 'afternoon', 'evening', 'night', 'flexible']
    })).status,
    200
  )
  const bad: object[] = [
    { favoriteSports: sports.slice(0, 51) },
    { favoriteSports: ['quidditch'] },
    { motivations: ['running'] },
    { activityStyle: ['morning'] },
    { preferredAvailability: ['sometimes'] },
    { preferredWorkoutTime: ['noon'] },
    { workoutFrequency: 0 },
    { workoutFrequency: 8 },
    { workoutFrequency: 2.5 },
    { motivations: 'x' },
    { subStep: 5 },
    { subStep: -1 }
  ]
  for (const body of bad) {
    t.match(await prefer(body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body).slice(0, 60))
  }
  for (
    const body of [{}, { locationEnabled: true }, { locationEnabled: 'yes', pushNotifications: true }, {
      locationEnabled: true,
      pushNotifications: true,
      latitude: 91,
      longitude: 0
    }]
  ) {
    t.match(
      await post(ana, '/onboarding/save-permissions', body),
      { status: 400, code: 'VALIDATION_ERROR' },
      JSON.stringify(body)
    )
  }
})

t.test('an option that is no longer offered stays valid for people who have chosen it', async (t) => {
  const [ana, ben] = [await givenPerson('Ana'), await givenPerson('Ben')]
  await post(ana, '/onboarding/save-preferences', { favoriteSports: ['golf'] })
  await db.updateTable('options').set({ is_active: false }).where('option_id', '=', 'golf').execute()
  t.equal((await post(ana, '/onboarding/save-preferences', { favoriteSports: ['golf', 'yoga'] })).status, 200)
  t.equal((await post(ben, '/onboarding/save-preferences', { favoriteSports: ['golf'] })).status, 400)
})

t.test('the time zone follows the place until a person chooses one', async (t) => {
  const ana = await givenPerson('Ana')
  const zone = async () => (await status(ana)).profile.timezone
  await save(ana, { countryId: '1' })
  t.equal(await zone(), 'Europe/Vienna', 'of the country')
  await save(ana, { cityId: '100' })
  t.equal(await zone(), 'Asia/Makassar', 'of the city')
  t.match(
    (await status(ana)).profile,
    { countryId: '102', regionId: '10', cityId: '100' },
    'a city implies its region and country'
  )
  await save(ana, { timezone: 'Asia/Tokyo' })
  await save(ana, { countryId: '1' })
  t.equal(await zone(), 'Asia/Tokyo')
  t.match(
    (await status(ana)).profile,
    { countryId: '1', regionId: null, cityId: null },
    'a city of another country is cleared'
  )
})

t.test('a city in no region clears an earlier region of its country', async (t) => {
  await db.insertInto('cities').values({
    id: 105,
    country_id: 102,
    region_id: null,
    name: 'Nusa',
    name_local: null,
    timezone: 'Asia/Makassar',
    population: 0,
    latitude: -8.7,
    longitude: 115.5
  }).execute()
  const ana = await givenPerson('Ana')
  await save(ana, { regionId: '11' })
  t.equal((await save(ana, { cityId: '105' })).status, 200)
  t.match((await status(ana)).profile, { countryId: '102', regionId: null, cityId: '105' })
  t.match(await save(ana, { regionId: '11', cityId: '105' }), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('places that do not belong together are rejected', async (t) => {
  const ana = await givenPerson('Ana')
  for (
    const body of [
      { countryId: '999' },
      { countryId: 'x' },
      { regionId: '999' },
      { cityId: '999' },
      { countryId: '1', regionId: '10' },
      { countryId: '1', cityId: '100' },
      { countryId: '102', regionId: '11', cityId: '100' }
    ]
  ) {
    t.match(await save(ana, body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body))
  }
})

t.test('only changes are published', async (t) => {
  const ana = await givenPerson('Ana')
  const publishedTypes = async () =>
    (await events()).filter(({ data }) => (data as { accountId: string }).accountId === ana).map(({ type }) => type)
  await save(ana, { subStep: 3, communityRulesAccepted: true })
  t.same(await publishedTypes(), [])
  await save(ana, { height: 170 })
  t.same(await publishedTypes(), ['profile.facts.changed.v1'])
  await save(ana, { name: 'Ana Putri', photos: photos(2) })
  t.same(await publishedTypes(), ['profile.facts.changed.v1', 'profile.person.changed.v1'])
  await save(ana, { name: 'Ana Putri', height: 170 })
  t.equal((await publishedTypes()).length, 2)
})

t.test('every route requires an access token', async (t) => {
  for (
    const [method, url] of [
      ['GET', '/onboarding/status'],
      ['POST', '/onboarding/save-profile'],
      ['POST', '/onboarding/save-preferences'],
      ['POST', '/onboarding/save-permissions'],
      ['POST', '/onboarding/upload-photo'],
      ['GET', '/profile']
    ] as const
  ) {
    t.match((await app.app.inject({ method, url })).json(), { success: false, code: 'UNAUTHORIZED' }, url)
  }
  t.match(
    await get(randomUUID(), '/onboarding/status'),
    { status: 404, code: 'NOT_FOUND' },
    'an account that identity does not know is 404'
  )
})
