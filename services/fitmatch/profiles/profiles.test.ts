import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { FactsChanged, FitMatchOverview, MatchEnded, PersonChanged } from '@tandem/contracts'
import { inParallel, createFacts, testApp } from '../test/app.ts'

t.test('a matching profile', async (t) => {
  const {
    get,
    post,
    postOnce,
    put,
    del,
    person,
    member,
    services,
    handlers,
    rpcHandlers,
    db,
    createMatch,
    publishedEvents,
    cdnUrl
  } = await testApp(t)

  t.test('does not exist before it is created', async (t) => {
    const ana = person('Ana')
    t.match(await get(ana, '/fitmatch/profile'), { status: 200, success: true, exists: false, data: null })
    t.match(await put(ana, '/fitmatch/profile', { bio: 'Hi' }), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.match(await del(ana, '/fitmatch/profile'), { status: 404, code: 'PROFILE_NOT_FOUND' })
  })

  t.test('takes omitted fields from the main profile', async (t) => {
    const ana = person('Ana')
    const { status, data } = await post(ana, '/fitmatch/profile', {})
    t.equal(status, 201)
    const { id, photos, ...fields } = data
    t.strictSame(fields, {
      displayName: 'Ana',
      bio: 'Runs',
      city: 'Jakarta',
      district: null,
      birthDate: '1995-05-05',
      gender: 'FEMALE',
      height: 170,
      age: 31,
      profileScore: 55,
      maxDistance: 50,
      ageMin: 18,
      ageMax: 99,
      latitude: -6.21,
      longitude: 106.85,
      status: 'ACTIVE',
      discoverTutorialSeen: false,
      lookingFor: ['MALE', 'FEMALE', 'OTHER'],
      interestedIn: [],
      fitnessGoals: [],
      preferredTimes: ['MORNING', 'EVENING'],
      workoutDays: [],
      sports: ['badminton', 'running'],
      prompts: [],
      venues: []
    })
    t.match(photos, [
      { url: 'https://cdn.example/onboarding/Ana/1.webp', isMain: true, sortOrder: 0 },
      { url: 'https://cdn.example/onboarding/Ana/2.webp', isMain: false, sortOrder: 1 }
    ])
    t.match(await get(ana, '/fitmatch/profile'), { exists: true, data: { id, displayName: 'Ana' } })
    t.match(await put(ana, '/fitmatch/profile', { displayName: 'Tandem Support' }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
    t.match(await post(person('Ben'), '/fitmatch/profile', { displayName: 'B\u202Een' }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
    t.match(await post(ana, '/fitmatch/profile', {}), { status: 409, code: 'PROFILE_EXISTS' })
  })

  t.test('keeps the given fields and drops unknown ones', async (t) => {
    const ana = person('Ana')
    const given = {
      displayName: ' Annie ',
      birthDate: '1990-01-02',
      gender: 'OTHER',
      bio: 'Lifts',
      height: 181.6,
      lookingFor: ['MALE'],
      interestedIn: ['gym_buddy', 'gym_buddy'],
      ageMin: 30,
      ageMax: 40,
      maxDistance: 12.4,
      fitnessGoals: ['STAY_FIT'],
      preferredTimes: ['night'],
      workoutDays: ['MONDAY'],
      city: 'Bogor',
      district: 'Tengah',
      prompts: [{ question: 'Why?', answer: 'Fun', x: 1 }]
    }
    const { data } = await post(ana, '/fitmatch/profile', {
      ...given,
      status: 'SUSPENDED',
      profileScore: 100,
      isPhotoVerified: true,
      latitude: 1,
      longitude: 1
    })
    t.match(data, {
      ...given,
      displayName: 'Annie',
      height: 182,
      maxDistance: 12,
      interestedIn: ['gym_buddy'],
      preferredTimes: ['NIGHT'],
      status: 'ACTIVE',
      latitude: -6.21,
      prompts: [{ id: String, question: 'Why?', answer: 'Fun' }]
    })
    t.notOk('x' in data.prompts[0])
    const changed = await put(ana, '/fitmatch/profile', {
      bio: '',
      height: null,
      latitude: -6.123456,
      longitude: 106.987654
    })
    t.match(changed, {
      status: 200,
      data: { displayName: 'Annie', bio: null, height: 182, latitude: -6.12, longitude: 106.99 }
    })
  })

  t.test('is created once under concurrent requests', async (t) => {
    const ana = person('Ana')
    const responses = await inParallel(8, () => post(ana, '/fitmatch/profile', {}))
    t.strictSame(responses.map(({ status }) => status).sort((one, other) => one - other), [
      201,
      409,
      409,
      409,
      409,
      409,
      409,
      409
    ])
  })

  t.test('is created once under an idempotency key, and returned as it was', async (t) => {
    const ana = person('Ana')
    const responses = await inParallel(4, () => postOnce(ana, 'k', '/fitmatch/profile', { bio: 'Hi' }))
    t.ok(responses.every(({ status, data }) => status === 201 && data.id === responses[0]?.data.id))
    t.match(await postOnce(ana, 'k', '/fitmatch/profile', { bio: 'Ho' }), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
    t.match(await postOnce(ana, 'l', '/fitmatch/profile', {}), { status: 409, code: 'PROFILE_EXISTS' })
  })

  t.test('prefers the times of workouts over those of free time', async (t) => {
    const ana = person('Ana', { preferredWorkoutTime: ['early_morning', 'night'] })
    await post(ana, '/fitmatch/profile')
    t.same((await get(ana, '/fitmatch/profile')).data.preferredTimes, ['EARLY_MORNING', 'NIGHT'])
  })

  t.test('starts with those photos of the main profile that exist', async (t) => {
    const ana = person('Ana')
    services.facts.set(
      ana,
      createFacts('Ana', {
        photos: [`${cdnUrl}/public/${crypto.randomUUID()}.webp`, 'https://elsewhere.example/a.png']
      })
    )
    t.match((await post(ana, '/fitmatch/profile')).data.photos, {
      length: 1,
      0: { url: 'https://elsewhere.example/a.png', isMain: true }
    })
  })

  t.test('is for adults', async (t) => {
    const yearsAgo = (years: number, days = 0) =>
      Temporal.Now.plainDateISO('UTC').subtract({ years }).add({ days }).toString()
    t.match(await post(person('Kid', { birthDate: yearsAgo(18, 1) }), '/fitmatch/profile', {}), {
      status: 403,
      code: 'AGE_RESTRICTED'
    })
    t.match(await post(person('Kid'), '/fitmatch/profile', { birthDate: yearsAgo(17) }), {
      status: 403,
      code: 'AGE_RESTRICTED'
    })
    const grown = person('Grown', { birthDate: yearsAgo(18) })
    t.match(await post(grown, '/fitmatch/profile', {}), { status: 201, data: { age: 18 } })
    t.match(await put(grown, '/fitmatch/profile', { birthDate: yearsAgo(17) }), { status: 403, code: 'AGE_RESTRICTED' })
    t.match(await put(grown, '/fitmatch/profile', { ageMin: 17 }), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await put(grown, '/fitmatch/profile', { ageMax: 17 }), {
      status: 400,
      details: [{ field: 'ageMin' }, { field: 'ageMax' }]
    })
  })

  t.test('rejects invalid values', async (t) => {
    const { id: ana } = await member('Ana')
    const bad = [
      { displayName: ' ' },
      { displayName: 'x'.repeat(101) },
      { birthDate: '2024-02-30' },
      { birthDate: '1850-01-01' },
      { birthDate: '2999-01-01' },
      { gender: 'X' },
      { bio: 'x'.repeat(501) },
      { height: 49 },
      { height: 301 },
      { lookingFor: [] },
      { lookingFor: ['ALL'] },
      { ageMin: 41, ageMax: 40 },
      { ageMax: 121 },
      { maxDistance: 0 },
      { maxDistance: 501 },
      { workoutDays: ['SOMEDAY'] },
      { latitude: 1 },
      { latitude: 91, longitude: 0 },
      { latitude: 0, longitude: 181 },
      { bio: 'a\u0000b' },
      { prompts: [{ question: 'a' }] }
    ]
    for (const body of bad) {
      t.match(
        await put(ana, '/fitmatch/profile', body),
        { status: 400, code: 'VALIDATION_ERROR' },
        JSON.stringify(body)
      )
    }
    for (
      const body of [{ bio: 'x'.repeat(500) }, { height: 50 }, { height: 300 }, { maxDistance: 1 }, {
        maxDistance: 500
      }, { latitude: 90, longitude: 180 }]
    ) {
      t.match(await put(ana, '/fitmatch/profile', body), { status: 200 }, JSON.stringify(body))
    }
  })

  t.test('can change its position twenty times a day, and recreating it does not reset the quota', async (t) => {
    const { id: ana } = await member('Ana')
    const responses = await inParallel(
      25,
      (turn) => put(ana, '/fitmatch/profile', { latitude: -6 + turn / 10, longitude: 106 })
    )
    t.equal(responses.filter(({ status }) => status === 200).length, 19, 'the first position counts as a change')
    t.match(responses.find(({ status }) => status !== 200), { status: 429, code: 'LIMIT_EXCEEDED' })
    const { data: { latitude, longitude } } = await get(ana, '/fitmatch/profile')
    t.match(
      await put(ana, '/fitmatch/profile', { latitude, longitude }),
      { status: 200 },
      'an unchanged position does not count'
    )
    await del(ana, '/fitmatch/profile')
    t.match(await post(ana, '/fitmatch/profile', {}), { status: 429, code: 'LIMIT_EXCEEDED' })
  })

  t.test('accepts only offered interests, on creation and on update', async (t) => {
    const ana = person('Ana')
    for (const interestedIn of [['world_domination'], ['gym_buddy', 'GYM_BUDDY'], ['gym_buddy', 'x'.repeat(50)]]) {
      t.match(await post(ana, '/fitmatch/profile', { interestedIn }), {
        status: 400,
        code: 'VALIDATION_ERROR',
        error: /interestedIn/
      })
    }
    t.match(await get(ana, '/fitmatch/profile'), { exists: false })
    t.match(await post(ana, '/fitmatch/profile', { interestedIn: ['gym_buddy', 'dating'] }), {
      status: 201,
      data: { interestedIn: ['gym_buddy', 'dating'] }
    })
    for (const interestedIn of [['gym_buddy', 'nothing'], ['']]) {
      t.match(await put(ana, '/fitmatch/profile', { interestedIn }), { status: 400, code: 'VALIDATION_ERROR' })
    }
    t.strictSame((await get(ana, '/fitmatch/profile')).data.interestedIn, ['gym_buddy', 'dating'])
    t.match(await put(ana, '/fitmatch/profile', { interestedIn: [] }), { status: 200, data: { interestedIn: [] } })
    await put(ana, '/fitmatch/profile', { interestedIn: ['dating'] })

    services.interests = services.interests.filter((id) => id !== 'dating')
    t.match(
      await put(ana, '/fitmatch/profile', { interestedIn: ['dating', 'friendship'] }),
      { status: 200 },
      'an interest that is no longer offered stays valid for a profile that has it'
    )
    t.match(await put((await member('Ben')).id, '/fitmatch/profile', { interestedIn: ['dating'] }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
    services.interests.push('dating')

    services.areUnavailable = true
    t.teardown(() => {
      services.areUnavailable = false
    })
    t.match(await put(ana, '/fitmatch/profile', { interestedIn: ['sports_team'] }), {
      status: 503,
      code: 'SERVICE_UNAVAILABLE'
    })
    t.match(await put(ana, '/fitmatch/profile', { interestedIn: ['friendship'], bio: 'New' }), {
      status: 200,
      data: { bio: 'New' }
    }, 'known interests need no RPC call')
  })

  t.test('cannot be created while the profile service is unavailable', async (t) => {
    services.areUnavailable = true
    t.teardown(() => {
      services.areUnavailable = false
    })
    t.match(await post(person('Ana'), '/fitmatch/profile', {}), { status: 503, code: 'SERVICE_UNAVAILABLE' })
  })

  t.test('follows the name of the main profile, unless it has a custom name', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben', { fields: { displayName: 'Benny' } })]
    for (const { id: accountId } of [ana, ben]) {
      const changed = {
        accountId,
        name: 'New',
        username: 'new',
        image: null,
        bio: null,
        locale: 'en',
        timezone: 'Europe/Berlin'
      }
      await deliver(handlers, PersonChanged.type, changed)
      await deliver(handlers, PersonChanged.type, changed)
    }
    t.match((await get(ana.id, '/fitmatch/profile')).data, { displayName: 'New' })
    t.match((await get(ben.id, '/fitmatch/profile')).data, { displayName: 'Benny' })
    t.match(await db.selectFrom('members').where('account_id', '=', ana.id).select('timezone').executeTakeFirst(), {
      timezone: 'Europe/Berlin'
    })
  })

  t.test('follows weight and sports, including changes just before it was created', async (t) => {
    const [ana, ben] = [person('Ana'), await member('Ben')]
    const facts = createFacts('Ana')
    await deliver(handlers, FactsChanged.type, { accountId: ana, ...facts, weight: 59, favoriteSports: ['swimming'] })
    const { data } = await post(ana, '/fitmatch/profile', {})
    t.match((await get(ben.id, `/fitmatch/profile/${data.id}`)).data, {
      weight: 59,
      favoriteSports: ['swimming'],
      fitnessLevel: 'INTERMEDIATE'
    })
    await deliver(handlers, FactsChanged.type, {
      accountId: ana,
      ...facts,
      weight: 58,
      favoriteSports: ['golf'],
      experience: 'BEGINNER'
    })
    t.match((await get(ana, '/fitmatch/profile')).data, { sports: ['golf'] })
    t.match((await get(ben.id, `/fitmatch/profile/${data.id}`)).data, {
      weight: 58,
      favoriteSports: ['golf'],
      fitnessLevel: 'BEGINNER'
    })
  })

  t.test('keeps the newer of two changes within a millisecond, fetched or consumed, in any order', async (t) => {
    const [ana, ben] = [person('Ana', { weight: 60, changedAt: '2026-01-31T08:00:00.000500Z' }), await member('Ben')]
    const change = async (weight: number, microsecond: number) =>
      await deliver(handlers, FactsChanged.type, {
        accountId: ana,
        ...createFacts('Ana'),
        weight,
        changedAt: `2026-01-31T08:00:00.000${microsecond}Z`
      })
    await change(59, 400)
    const { data } = await post(ana, '/fitmatch/profile', {})
    const weight = async () => (await get(ben.id, `/fitmatch/profile/${data.id}`)).data.weight
    t.equal(await weight(), 60)
    await change(61, 602)
    t.equal(await weight(), 61)
    await change(62, 601)
    await change(59, 400)
    t.equal(await weight(), 61)
  })

  t.test('is deleted together with its matches', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const matchId = await createMatch(ana, ben)
    await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { content: 'Hi' })
    t.match(await del(ana.id, '/fitmatch/settings', {}), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await del(ana.id, '/fitmatch/settings', { confirmation: 'delete' }), { status: 400 })
    t.match(await del(ana.id, '/fitmatch/settings', { confirmation: 'DELETE_MY_FITMATCH' }), {
      status: 200,
      success: true,
      message: String
    })
    t.match(await get(ana.id, '/fitmatch/profile'), { exists: false })
    t.match(await get(ben.id, '/fitmatch/matches'), { data: { totalMatches: 0, newMatches: [], conversations: [] } })
    t.match(await get(ben.id, `/fitmatch/profile/${ana.profileId}`), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.equal((await publishedEvents(MatchEnded)).filter((event) => event.matchId === matchId).length, 1)
  })

  t.test('is provided over RPC for the home screen', async (t) => {
    const callRpc = async (accountId: string) =>
      await rpcHandlers.find(({ rpc }) => rpc === FitMatchOverview)?.handle({ accountId })
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    t.strictSame(await callRpc(person('Nobody')), {
      hasProfile: false,
      status: null,
      discoverTutorialSeen: false,
      matches: []
    })
    const matchId = await createMatch(ana, ben)
    t.match(await callRpc(ana.id), {
      hasProfile: true,
      status: 'ACTIVE',
      discoverTutorialSeen: false,
      matches: [{
        matchId,
        profileId: ben.profileId,
        displayName: 'Ben',
        photo: 'https://cdn.example/onboarding/Ben/1.webp',
        matchedAt: String
      }]
    })
  })
})
