import t from 'tap'
import { testApp, type Facts, type Member } from '../test/app.ts'

t.test('discover', async (t) => {
  const { get, post, put, del, member, person, swipe, subscribe, db } = await testApp(t)
  let regions = 0
  // Each test uses its own region, out of range of the others.
  const region = () => {
    const latitude = -50 + 12 * Math.floor(regions / 14)
    const longitude = -170 + 24 * (regions++ % 14)
    return (
      name: string,
      { east = 0, north = 0, ...rest }: Partial<Facts> & { east?: number, north?: number, fields?: object } = {}
    ) => member(name, { latitude: latitude + north, longitude: longitude + east, ...rest })
  }
  const found = async (who: Member, query = '') => (await get(who.id, `/fitmatch/discover${query}`)).data
  const names = async (who: Member, query = '?limit=50') =>
    (await found(who, query)).profiles.map(({ displayName }: { displayName: string }) => displayName)

  t.test('returns candidates with all documented fields', async (t) => {
    const here = region()
    const ana = await here('Ana')
    const ben = await here('Ben', { gender: 'MALE', fields: { prompts: [{ question: 'Why?', answer: 'Fun' }] } })
    await post(ben.id, '/fitmatch/profile/venues', {
      name: 'Gym',
      branch: 'B',
      city: 'C',
      latitude: 1.23456,
      longitude: 2.34567,
      placeId: 'secret'
    })
    const response = await get(ana.id, '/fitmatch/discover')
    t.equal(response.status, 200)
    t.strictSame(Object.keys(response.data).sort(), ['limits', 'profiles', 'remaining'])
    t.strictSame(response.data, {
      profiles: [{
        id: ben.profileId,
        displayName: 'Ben',
        age: 31,
        gender: 'MALE',
        bio: 'Runs',
        city: 'Jakarta',
        distance: 1,
        compatibilityScore: 40,
        isPhotoVerified: false,
        isOnline: true,
        fitnessLevel: 'INTERMEDIATE',
        fitnessGoals: [],
        preferredTimes: ['MORNING', 'EVENING'],
        workoutDays: [],
        height: 170,
        weight: 61.5,
        favoriteSports: ['badminton', 'running'],
        photos: [1, 2].map((number) => ({
          type: 'IMAGE',
          url: `https://cdn.example/onboarding/Ben/${number}.webp`,
          width: null,
          height: null,
          blurhash: null,
          thumbnails: [],
          isMain: number === 1
        })),
        prompts: [{ question: 'Why?', answer: 'Fun' }],
        venues: [{ name: 'Gym', branch: 'B', city: 'C', latitude: 1.23, longitude: 2.35 }],
        sameGym: false,
        sharedVenues: []
      }],
      remaining: 0,
      limits: { dailySwipes: 10, remaining: 10, used: 0, unlimited: false }
    })
  })

  t.test('respects the preferences of both people', async (t) => {
    const here = region()
    const ana = await here('Ana', {
      gender: 'FEMALE',
      birthDate: '1995-05-05',
      fields: { lookingFor: ['MALE'], ageMin: 25, ageMax: 35, maxDistance: 20 }
    })
    await here('Fits', { gender: 'MALE' })
    await here('Woman', { gender: 'FEMALE' })
    await here('Unknown', { gender: null })
    await here('Prefers men', { gender: 'MALE', fields: { lookingFor: ['MALE'] } })
    await here('Prefers older', { gender: 'MALE', fields: { ageMin: 40 } })
    await here('Prefers younger', { gender: 'MALE', fields: { ageMax: 30 } })
    await here('Too far', { gender: 'MALE', east: 0.5 })
    await here('Near enough', { gender: 'MALE', east: 0.2 })
    await here('Ageless', { gender: 'MALE', birthDate: null })
    await here('Nowhere', { gender: 'MALE', latitude: null, longitude: null })
    t.strictSame((await names(ana)).sort(), ['Fits', 'Near enough'])
    await put(ana.id, '/fitmatch/profile', { lookingFor: ['MALE', 'FEMALE', 'OTHER'], maxDistance: 100 })
    t.strictSame((await names(ana)).sort(), ['Fits', 'Near enough', 'Too far', 'Unknown', 'Woman'])
  })

  t.test('respects the age range at both edges', async (t) => {
    const here = region()
    const born = (years: number, days = 0) =>
      Temporal.Now.plainDateISO('UTC').subtract({ years }).add({ days }).toString()
    const ana = await here('Ana', { fields: { ageMin: 30, ageMax: 32 } })
    for (
      const [name, birthDate] of [['29', born(30, 1)], ['30', born(30)], ['32', born(33, 1)], ['33', born(33)]] as const
    ) await here(name, { birthDate })
    t.strictSame((await names(ana)).sort(), ['30', '32'])
  })

  t.test('leaves out swiped, blocked, paused, suspended, incomplete and excluded profiles', async (t) => {
    const here = region()
    const ana = await here('Ana')
    const created: Record<string, Member> = {}
    for (
      const name of [
        'Shown',
        'Passed',
        'Liked',
        'Blocked',
        'Blocks me',
        'Paused',
        'Suspended',
        'One photo',
        'Excluded',
        'Liked me'
      ]
    ) created[name] = await here(name)
    const of = (name: string) => created[name] as Member
    await swipe(ana, of('Passed'), 'PASS')
    await swipe(ana, of('Liked'), 'LIKE')
    await swipe(of('Liked me'), ana, 'LIKE')
    await post(ana.id, '/fitmatch/block', { blockedProfileId: of('Blocked').profileId })
    await post(of('Blocks me').id, '/fitmatch/block', { blockedProfileId: ana.profileId })
    await put(of('Paused').id, '/fitmatch/settings', { status: 'PAUSED' })
    await db.updateTable('profiles').set({ suspended: true }).where('account_id', '=', of('Suspended').id).execute()
    const { data: { photos } } = await get(of('One photo').id, '/fitmatch/photos')
    await del(of('One photo').id, `/fitmatch/photos?id=${photos[0].id}`)
    t.strictSame(
      (await names(ana, `?limit=50&excludeIds=,garbage,';--,${of('Excluded').profileId},${crypto.randomUUID()}`))
        .sort(),
      ['Liked me', 'Shown']
    )
  })

  t.test('ranks by shared traits, then by distance, and counts the remaining candidates', async (t) => {
    const here = region()
    const mine = {
      interestedIn: ['gym_buddy', 'dating'],
      fitnessGoals: ['STAY_FIT'],
      preferredTimes: ['MORNING'],
      workoutDays: ['MONDAY', 'TUESDAY']
    }
    const bare = { preferredAvailability: [], favoriteSports: [] }
    const ana = await here('Ana', { ...bare, favoriteSports: ['golf', 'tennis'], fields: { ...mine, maxDistance: 50 } })
    await here('All', { favoriteSports: ['tennis', 'golf'], fields: mine })
    await here('Half', {
      ...bare,
      favoriteSports: ['golf'],
      fields: {
        interestedIn: ['gym_buddy'],
        fitnessGoals: ['stay_fit'],
        preferredTimes: ['morning'],
        workoutDays: ['MONDAY']
      }
    })
    await here('Nothing', bare)
    await here('Farther', { ...bare, north: 0.2 })
    const { profiles, remaining } = await found(ana)
    t.strictSame(
      profiles.map((
        each: { displayName: string, compatibilityScore: number, distance: number }
      ) => [each.displayName, each.compatibilityScore, each.distance]),
      [['All', 100, 1], ['Half', 75, 1], ['Nothing', 10, 1], ['Farther', 6, 22]]
    )
    t.equal(remaining, 0)
    t.match(await found(ana, '?limit=1'), { profiles: [{ displayName: 'All' }], remaining: 3 })
    t.match((await get(ana.id, `/fitmatch/profile/${profiles[1].id}`)).data, {
      compatibilityScore: 75,
      distance: 1,
      isMatch: false,
      matchId: null,
      mySwipe: null
    })
    for (const limit of [0, 51, 'x']) {
      t.match(await get(ana.id, `/fitmatch/discover?limit=${limit}`), { status: 400, code: 'VALIDATION_ERROR' })
    }
  })

  t.test('ranks people who hide their distance as if it were unknown', async (t) => {
    const here = region()
    const bare = { preferredAvailability: [], favoriteSports: [] }
    const ana = await here('Ana', { ...bare, fields: { maxDistance: 50 } })
    const hidden = await here('Hidden', bare)
    await here('Far', { ...bare, north: 0.2 })
    t.match(await put(hidden.id, '/fitmatch/settings', { showDistance: false }), { status: 200 })
    const { profiles } = await found(ana)
    t.strictSame(
      profiles.map((
        each: { displayName: string, compatibilityScore: number, distance: number }
      ) => [each.displayName, each.compatibilityScore, each.distance]),
      [['Far', 6, 22], ['Hidden', 0, null]]
    )
    t.match((await get(ana.id, `/fitmatch/profile/${hidden.profileId}`)).data, {
      compatibilityScore: 0,
      distance: null
    })
  })

  t.test('knows no distance to people without a position, and gives no points for it', async (t) => {
    const here = region()
    const bare = { preferredAvailability: [], favoriteSports: [] }
    const ana = await here('Ana', bare)
    const nowhere = await here('Nowhere', { ...bare, latitude: null, longitude: null })
    const unknown = { distance: null, compatibilityScore: 0 }
    t.match((await get(ana.id, `/fitmatch/profile/${nowhere.profileId}`)).data, unknown)
    t.match((await get(nowhere.id, `/fitmatch/profile/${ana.profileId}`)).data, unknown)
    await subscribe(ana.id)
    await swipe(nowhere, ana)
    t.match((await get(ana.id, '/fitmatch/likes')).data.profiles, [unknown])
  })

  t.test('ranks exactly for random profiles', async (t) => {
    const here = region()
    let seed = 7
    const random = () => (seed = seed * 48_271 % 2_147_483_647) / 2_147_483_647
    const some = (values: string[]) => values.filter(() => random() < 0.4)
    const [interests, goals] = [['gym_buddy', 'dating', 'friendship', 'sports_team'], [
      'STAY_FIT',
      'ENDURANCE',
      'STRENGTH'
    ]]
    const [times, days, sports] = [['MORNING', 'EVENING', 'NIGHT'], ['MONDAY', 'TUESDAY', 'FRIDAY', 'SUNDAY'], [
      'golf',
      'tennis',
      'running',
      'judo',
      'chess'
    ]]
    const someone = () => ({
      east: Math.round(40 * random()) / 100,
      north: Math.round(40 * random()) / 100,
      favoriteSports: some(sports),
      fields: {
        interestedIn: some(interests),
        fitnessGoals: some(goals),
        preferredTimes: some(times),
        workoutDays: some(days),
        maxDistance: 30
      }
    })
    const people = new Map<string, ReturnType<typeof someone>>()
    const mine = someone()
    const ana = await here('Ana', mine)
    const others: Member[] = []
    for (let turn = 0; turn < 80; turn++) {
      const facts = someone()
      // People in the middle of the preferred ages form the sample that sets the score threshold.
      const other = await here(`P${turn}`, { ...facts, birthDate: turn % 2 ? '1969-06-15' : '1995-05-05' })
      others.push(other)
      people.set(other.profileId, facts)
    }
    for (const other of others.slice(0, 5)) await swipe(ana, other, 'PASS')
    await post(ana.id, '/fitmatch/block', { blockedProfileId: others[5]?.profileId })
    await post(others[6]?.id ?? '', '/fitmatch/block', { blockedProfileId: ana.profileId })
    const excluded = others.slice(7, 12).map(({ profileId }) => profileId)

    const part = (worth: number, one: string[], other: string[]) => {
      const shared = one.filter((each) => other.includes(each)).length
      return shared === 0 ? 0 : worth * shared / (one.length + other.length - shared)
    }
    const rad = Math.PI / 180
    const at = (await db.selectFrom('profiles').select(['id', 'latitude', 'longitude']).execute())
      .map(({ id, latitude, longitude }) =>
        [id, { latitude: (latitude ?? 0) / 100 * rad, longitude: (longitude ?? 0) / 100 * rad }] as const
      )
    const placeOf = new Map(at)
    const kmTo = (id: string) => {
      const [one, other] = [placeOf.get(ana.profileId), placeOf.get(id)]
      if (!one || !other) return Infinity
      const half = Math.sin((one.latitude - other.latitude) / 2) ** 2 +
        Math.cos(one.latitude) * Math.cos(other.latitude) * Math.sin((one.longitude - other.longitude) / 2) ** 2
      return 2 * 6371 * Math.asin(Math.sqrt(half))
    }
    const wanted = others.slice(12).flatMap(({ profileId: id }) => {
      const [km, { fields, favoriteSports }] = [kmTo(id), people.get(id) ?? mine]
      const score = part(25, mine.fields.interestedIn, fields.interestedIn) +
        part(20, mine.fields.fitnessGoals, fields.fitnessGoals) +
        part(20, mine.fields.preferredTimes, fields.preferredTimes) +
        part(15, mine.fields.workoutDays, fields.workoutDays) +
        part(10, mine.favoriteSports, favoriteSports) + 10 * Math.max(0, 1 - km / 30)
      return km <= 30 ? [{ id, km, score }] : []
    })
    const everyone = await found(ana, `?limit=50&excludeIds=${excluded.join(',')}`) as {
      profiles: { id: string, distance: number, compatibilityScore: number }[],
      remaining: number
    }
    t.equal(everyone.profiles.length + everyone.remaining, wanted.length)
    t.ok(wanted.length > 30 && wanted.length < 68, `${wanted.length} fit`)
    let last = { score: 101, km: 0 }
    for (const { id, distance, compatibilityScore } of everyone.profiles) {
      const { km = -1, score = -1 } = wanted.find((each) => each.id === id) ?? {}
      t.ok(Math.abs(compatibilityScore - score) <= 0.5 + 1e-9, `the score of ${id} is ${score}`)
      t.equal(distance, Math.max(1, Math.round(km)))
      t.ok(
        compatibilityScore < last.score || (compatibilityScore === last.score && km >= last.km - 1e-4),
        'sorted by score, then by distance'
      )
      last = { score: compatibilityScore, km }
    }
    for (const limit of [1, 2, 5, 10, 20]) {
      const best = await found(ana, `?limit=${limit}&excludeIds=${excluded.join(',')}`) as typeof everyone
      t.strictSame(best.profiles, everyone.profiles.slice(0, limit), `the best ${limit} are the first ${limit}`)
      t.equal(best.profiles.length + best.remaining, wanted.length)
    }
    const shown = new Set(everyone.profiles.map(({ id }) => id))
    const worst = everyone.profiles.at(-1)?.compatibilityScore ?? 0
    t.ok(
      wanted.filter(({ id }) => !shown.has(id)).every(({ score }) =>
        Math.round(score) <= worst + (score % 1 === 0.5 ? 1 : 0)
      ),
      'no better candidate is left out'
    )
  })

  t.test('shows people without a position to others without one in the same city', async (t) => {
    const nowhere = { latitude: null, longitude: null, city: 'Atlantis' }
    const ana = await member('Ana', nowhere)
    await member('Ben', { ...nowhere, city: 'ATLANTIS' })
    await member('Cleo', { ...nowhere, city: 'Avalon' })
    const { profiles } = await found(ana)
    t.match(profiles, [{ displayName: 'Ben', distance: null }])
    t.equal(profiles.length, 1)
  })

  t.test('requires an active profile with two photos', async (t) => {
    const here = region()
    t.match(await get(person('Nobody'), '/fitmatch/discover'), { status: 404, code: 'PROFILE_NOT_FOUND' })
    t.match(await get((await here('Bare', { photos: [] })).id, '/fitmatch/discover'), {
      status: 400,
      code: 'INSUFFICIENT_PHOTOS'
    })
    t.match(await get((await here('One', { photos: ['https://a.example/1'] })).id, '/fitmatch/discover'), {
      status: 400,
      code: 'INSUFFICIENT_PHOTOS'
    })
    const ana = await here('Ana')
    await db.updateTable('profiles').set({ suspended: true }).where('account_id', '=', ana.id).execute()
    t.match(await get(ana.id, '/fitmatch/discover'), { status: 403, code: 'PROFILE_SUSPENDED' })
    t.match(await get(ana.id, `/fitmatch/profile/${ana.profileId}`), { status: 403, code: 'PROFILE_SUSPENDED' })
    t.match(await get((await here('Ageless', { birthDate: null })).id, '/fitmatch/discover'), {
      status: 200,
      data: { profiles: [], remaining: 0 }
    })
  })

  t.test('never shows minors, whatever the preferences', async (t) => {
    const here = region()
    const ana = await here('Ana')
    const kid = await here('Kid')
    await db.updateTable('profiles').set({
      birth_date: Temporal.Now.plainDateISO('UTC').subtract({ years: 17 }).toString()
    }).where('account_id', '=', kid.id).execute()
    await db.updateTable('profiles').set({ age_min: 13 }).where('account_id', '=', ana.id).execute()
    t.strictSame(await names(ana), [])
  })
})
