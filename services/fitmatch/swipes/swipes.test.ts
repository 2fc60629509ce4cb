import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { LikeReceived, LikesWithdrawn, MatchMade, PersonChanged, SubscriptionChanged } from '@tandem/contracts'
import { lockPair } from '../people/pairs.ts'
import { readCaller } from '../people/queries.ts'
import { setSuspended } from '../safety/suspensions.ts'
import { inParallel, testApp, type Member } from '../test/app.ts'
import { readLikes } from './queries.ts'

t.test('swipes', async (t) => {
  const { get, post, put, del, member, person, swipe, subscribe, publishedEvents, db, handlers, rpcHandlers } =
    await testApp(t)
  const many = async (count: number, name = 'Other') => await inParallel(count, (turn) => member(`${name}${turn}`))
  const usedBy = async ({ id }: Member) =>
    (await db.selectFrom('daily_quotas').where('account_id', '=', id).where('name', '=', 'swipes').select('used')
      .executeTakeFirst())?.used ?? 0

  t.test('publish that a person is liked, with what the liked person may see only for subscribers', async (t) => {
    const [ana, ben] = [await member('Ana', { fields: { displayName: 'Annie' } }), await member('Ben')]
    const response = await swipe(ana, ben)
    t.match(response, { status: 200, success: true })
    t.strictSame(response.data, { swipeType: 'LIKE', isMatch: false, remaining: 9 })
    t.strictSame((await publishedEvents(LikeReceived)).filter(({ accountId }) => accountId === ben.id), [{
      accountId: ben.id,
      swipeType: 'LIKE',
      likerId: ana.id,
      likedBy: null
    }])
    t.strictSame((await get(ben.id, '/fitmatch/likes')).data, { count: 1, profiles: [] })

    const cleo = await member('Cleo')
    await subscribe(cleo.id)
    await swipe(ana, cleo, 'WORKOUT_BUDDY')
    t.strictSame((await publishedEvents(LikeReceived)).filter(({ accountId }) => accountId === cleo.id), [
      {
        accountId: cleo.id,
        swipeType: 'WORKOUT_BUDDY',
        likerId: ana.id,
        likedBy: ana.id,
        displayName: 'Annie',
        profileId: ana.profileId
      }
    ])
    t.match((await get(cleo.id, '/fitmatch/likes')).data, {
      count: 1,
      profiles: [{ id: ana.profileId, displayName: 'Annie' }]
    })
    await swipe(cleo, ana, 'PASS')
    t.match((await get(cleo.id, '/fitmatch/likes')).data, { count: 0, profiles: [] })
  })

  t.test('can be taken back while the liked person reads who likes them', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await subscribe(ben.id)
    await swipe(ana, ben)
    const me = await readCaller(db, ben.id)
    const whileReading = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult ({ result }) {
        await db.deleteFrom('swipes').where('swiper_id', '=', ana.id).execute()
        return result
      }
    })
    t.same(await readLikes({ db: whileReading, minAge: 18 }, me), { count: 1, profiles: [] })
  })

  t.test('publish when a like changes, is taken back, or is answered', async (t) => {
    const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
    const likes = async () =>
      (await publishedEvents(LikeReceived)).filter(({ likerId }) => likerId === ana.id).map(({ swipeType }) =>
        swipeType
      )
    const withdrawn = async () =>
      (await publishedEvents(LikesWithdrawn)).filter(({ likerId }) => likerId === ana.id)
        .map(({ receiverIds }) => receiverIds)
    for (const type of ['LIKE', 'WORKOUT_BUDDY', 'PASS', 'LIKE'] as const) await swipe(ana, ben, type)
    t.same(await likes(), ['LIKE', 'WORKOUT_BUDDY', 'LIKE'])
    t.same(await withdrawn(), [[ben.id]])
    await swipe(ben, ana, 'PASS')
    t.same(await withdrawn(), [[ben.id], [ben.id]])
    for (const type of ['PASS', 'LIKE'] as const) await swipe(ana, ben, type)
    t.same(await likes(), ['LIKE', 'WORKOUT_BUDDY', 'LIKE'], 'who has answered is not asked again')

    await swipe(ana, cleo)
    await swipe(cleo, ana)
    t.same((await withdrawn()).at(-1), [cleo.id], 'a match is an answer too')
    for (const status of ['PAUSED', 'PAUSED', 'ACTIVE']) await put(ana.id, '/fitmatch/settings', { status })
    t.same((await withdrawn()).filter((receivers) => receivers === null).length, 1)
  })

  t.test('of a paused person publish no like, and are seen when they come back', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await subscribe(ben.id)
    await put(ana.id, '/fitmatch/settings', { status: 'PAUSED' })
    t.match(await swipe(ana, ben), { status: 200 })
    t.same((await publishedEvents(LikeReceived)).filter(({ accountId }) => accountId === ben.id), [])
    t.same((await get(ben.id, '/fitmatch/likes')).data.profiles, [])
    await put(ana.id, '/fitmatch/settings', { status: 'ACTIVE' })
    t.match((await get(ben.id, '/fitmatch/likes')).data.profiles, [{ id: ana.profileId }])
    t.match(await swipe(ben, ana), { data: { isMatch: true } })
  })

  t.test('of two interested people create a match, which is published for both', async (t) => {
    for (
      const [mine, theirs, matchType] of [['LIKE', 'LIKE', 'LIKE'], ['LIKE', 'WORKOUT_BUDDY', 'WORKOUT_BUDDY'], [
        'WORKOUT_BUDDY',
        'WORKOUT_BUDDY',
        'WORKOUT_BUDDY'
      ]] as const
    ) {
      const [ana, ben] = [await member('Ana'), await member('Ben', { fields: { displayName: 'Benny' } })]
      await swipe(ana, ben, mine)
      const { data } = await swipe(ben, ana, theirs)
      t.match(data, {
        swipeType: theirs,
        isMatch: true,
        remaining: 9,
        match: {
          matchId: String,
          matchType,
          matchedAt: String,
          matchedProfile: {
            id: ana.profileId,
            displayName: 'Ana',
            age: 31,
            photo: 'https://cdn.example/onboarding/Ana/1.webp'
          }
        }
      })
      t.strictSame(Object.keys(data.match.matchedProfile).sort(), ['age', 'displayName', 'id', 'photo'])
      t.match((await publishedEvents(MatchMade)).at(-1), {
        matchId: data.match.matchId,
        accountIds: [ana.id, ben.id].toSorted(),
        displayNames: ana.id < ben.id ? ['Ana', 'Benny'] : ['Benny', 'Ana'],
        matchType
      })
      t.match(
        (await swipe(ana, ben, 'PASS')).data,
        { isMatch: true, match: { matchId: data.match.matchId } },
        'an existing match stays'
      )
      t.equal(await usedBy(ana), 1)
      t.match((await get(ana.id, `/fitmatch/profile/${ben.profileId}`)).data, {
        isMatch: true,
        matchId: data.match.matchId,
        mySwipe: mine
      })
    }
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await swipe(ana, ben, 'LIKE')
    t.match((await swipe(ben, ana, 'PASS')).data, { isMatch: false })
    t.match((await swipe(ben, ana, 'LIKE')).data, { isMatch: true, remaining: 8 }, 'a changed swipe counts')
  })

  t.test('of two hundred pairs at the same instant create two hundred matches', async (t) => {
    const pairs: [Member, Member][] = []
    for (let batch = 0; batch < 10; batch++) {
      pairs.push(
        ...await inParallel(
          20,
          async (turn) => [await member(`A${turn}`), await member(`B${turn}`)] as [Member, Member]
        )
      )
    }
    const before = (await publishedEvents(MatchMade)).length
    const responses = await Promise.all(
      pairs.map(async ([one, other]) => await Promise.all([swipe(one, other), swipe(other, one)]))
    )
    t.ok(responses.every((both) => both.every(({ status }) => status === 200)))
    t.ok(responses.every((both) => both.some(({ data }) => data.isMatch)))
    const created = (await publishedEvents(MatchMade)).slice(before)
    t.equal(created.length, 200)
    t.equal(new Set(created.map(({ accountIds }) => String(accountIds))).size, 200)
    const matches = await db.selectFrom('matches').where('low_id', 'in', pairs.flat().map(({ id }) => id)).select('id')
      .execute()
    t.equal(matches.length, 200)
  })

  t.test('are free when repeated', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const responses = await inParallel(50, () => swipe(ana, ben))
    t.ok(responses.every(({ status, data }) => status === 200 && data.remaining === 9))
    t.equal(await usedBy(ana), 1)
    t.equal((await publishedEvents(LikeReceived)).filter(({ accountId }) => accountId === ben.id).length, 1)
  })

  t.test('are limited to ten a day, PASS included, under concurrent requests', async (t) => {
    const [ana, others] = [await member('Ana'), await many(60)]
    const responses = await Promise.all(others.map((other, turn) => swipe(ana, other, turn % 2 ? 'LIKE' : 'PASS')))
    t.equal(responses.filter(({ status }) => status === 200).length, 10)
    t.match(responses.find(({ status }) => status !== 200), { status: 429, code: 'LIMIT_EXCEEDED' })
    t.strictSame(
      responses.filter(({ status }) => status === 200).map(({ data }) => data.remaining).sort((one, other) =>
        one - other
      ),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    )
    t.equal((await db.selectFrom('swipes').where('swiper_id', '=', ana.id).select('target_id').execute()).length, 10)
    const limits = async () => (await get(ana.id, '/fitmatch/discover')).data.limits
    t.strictSame(await limits(), { dailySwipes: 10, remaining: 0, used: 10, unlimited: false })

    await del(ana.id, '/fitmatch/profile')
    await post(ana.id, '/fitmatch/profile')
    t.match(await swipe(ana, others[0] as Member), { status: 429, code: 'LIMIT_EXCEEDED' }, 'also with a new profile')

    await subscribe(ana.id)
    t.match(await swipe(ana, others[0] as Member), { status: 200, data: { remaining: 999_999 } })
    t.strictSame(await limits(), { dailySwipes: 999_999, remaining: 999_999, used: 11, unlimited: true })
    await subscribe(ana.id, 'CANCELED')
    t.match(await swipe(ana, others[1] as Member), { status: 429 })
    t.match(await limits(), { remaining: 0, used: 11 })
    await db.updateTable('daily_quotas').set({ ends_at: new Date('2020-01-01') }).where('account_id', '=', ana.id)
      .execute()
    t.match(await swipe(ana, others[1] as Member), { status: 200, data: { remaining: 9 } }, 'a new day')
  })

  t.test('are ten a day, however often a person changes their time zone', async (t) => {
    const [ana, others] = [await member('Ana'), await many(11)]
    // On three calendar days at the same moment, at any time of the day.
    const zones = ['Pacific/Kiritimati', 'Etc/GMT+12', 'Asia/Jakarta', 'UTC', 'IST']
    const moveTo = async (timezone: string) => {
      const moved = { accountId: ana.id, name: 'Ana', username: 'ana', image: null, bio: null, locale: 'en', timezone }
      await deliver(handlers, PersonChanged.type, { ...moved, changedAt: new Date().toISOString() })
    }
    for (const [turn, other] of others.entries()) {
      await moveTo(zones[turn % zones.length]!)
      t.match(await swipe(ana, other), turn < 10 ? { data: { remaining: 9 - turn } } : { code: 'LIMIT_EXCEEDED' })
    }
    for (const zone of zones) {
      await moveTo(zone)
      t.match(await swipe(ana, others[10]!), { status: 429, code: 'LIMIT_EXCEEDED' }, zone)
      t.match((await get(ana.id, '/fitmatch/discover')).data.limits, { remaining: 0, used: 10 })
    }
  })

  t.test('are unlimited only during a subscription, whatever the order of events', async (t) => {
    const ana = await member('Ana')
    await subscribe(ana.id, 'ACTIVE', -1)
    t.match((await get(ana.id, '/fitmatch/discover')).data.limits, { dailySwipes: 10 })
    const at = (status: string) => ({
      accountId: ana.id,
      planId: 'pro',
      status,
      currentPeriodStart: new Date().toISOString(),
      currentPeriodEnd: new Date(Date.now() + 1e9).toISOString()
    })
    const [moment, first] = [new Date(), Number.MAX_SAFE_INTEGER - 3]
    const change = async (status: string, sequence: number) => {
      await deliver(handlers, SubscriptionChanged.type, at(status), { at: moment, sequence })
      return (await get(ana.id, '/fitmatch/discover')).data.limits.unlimited as boolean
    }
    t.equal(await change('CANCELED', first), false)
    t.equal(await change('ACTIVE', first + 1), true, 'the second change of one millisecond counts')
    t.equal(await change('CANCELED', first), true, 'late events change nothing')
    t.equal(await change('EXPIRED', first + 2), false)
    t.equal(await change('EXPIRED', first + 2), false)
  })

  t.test('are unlimited, and likes have names, only if the plan unlocks it', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await swipe(ben, ana)
    const change = async (entitlements?: string[]) => {
      await deliver(handlers, SubscriptionChanged.type, {
        accountId: ana.id,
        planId: 'plus',
        status: 'ACTIVE',
        currentPeriodStart: new Date().toISOString(),
        currentPeriodEnd: new Date(Date.now() + 1e9).toISOString(),
        ...(entitlements && { entitlements })
      })
      const { limits } = (await get(ana.id, '/fitmatch/discover')).data
      const { count, profiles } = (await get(ana.id, '/fitmatch/likes')).data
      return { unlimited: limits.unlimited as boolean, count: count as number, names: profiles.length as number }
    }
    t.same(await change(['unlimited_swipes']), { unlimited: true, count: 1, names: 0 })
    t.same(await change(['see_likes']), { unlimited: false, count: 1, names: 1 })
    t.same(await change([]), { unlimited: false, count: 1, names: 0 })
    t.same(await change(), { unlimited: true, count: 1, names: 1 }, 'events of earlier versions name nothing')
    const [tier] = rpcHandlers.filter(({ rpc }) => rpc.type === 'fitmatch.tier.v1')
    t.match(await tier?.handle({ accountId: ana.id }), { subscribedUntil: /Z$/ })
    t.match(await tier?.handle({ accountId: ben.id }), { subscribedUntil: null })
  })

  t.test('of a person who is suspended meanwhile change nothing', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const { swiped } = await db.transaction().execute(async (trx) => {
      await lockPair(trx, ana.id, ben.id)
      const swiped = swipe(ana, ben)
      // It waits for the pair.
      await sleep(300)
      await db.transaction().execute(async (other) => await setSuspended(other, ana.id, true))
      return { swiped }
    })
    t.match(await swiped, { status: 403, code: 'PROFILE_SUSPENDED' })
    t.equal(await usedBy(ana), 0)
    t.same((await publishedEvents(LikeReceived)).filter(({ accountId }) => accountId === ben.id), [])
  })

  t.test('are rejected if invalid', async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    t.match(await swipe(ana, ana), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await post(ana.id, '/fitmatch/swipe', { targetProfileId: 'garbage', swipeType: 'LIKE' }), {
      status: 404,
      code: 'PROFILE_NOT_FOUND'
    })
    t.match(await post(ana.id, '/fitmatch/swipe', { targetProfileId: ben.profileId, swipeType: 'SUPERLIKE' }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    })
    t.match(await post(ana.id, '/fitmatch/swipe', { swipeType: 'LIKE' }), { status: 400, code: 'VALIDATION_ERROR' })
    t.match(await post(person('Nobody'), '/fitmatch/swipe', { targetProfileId: ben.profileId, swipeType: 'LIKE' }), {
      status: 404,
      code: 'PROFILE_NOT_FOUND'
    })
    const ageless = await member('Ageless', { birthDate: null })
    t.match(await swipe(ageless, ben), { status: 403, code: 'AGE_RESTRICTED' })
    await put(ageless.id, '/fitmatch/profile', { birthDate: '1990-01-01' })
    t.match(await swipe(ageless, ben), { status: 200 })
    t.equal(await usedBy(ana), 0)
  })
})
