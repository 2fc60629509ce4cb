import t from 'tap'
import { activityApi, inDays } from '../test/activities.ts'
import { testApp, type Member } from '../test/app.ts'
import { handleFitMatchOverview } from '../matches/rpc.ts'
import { setSuspended } from '../safety/suspensions.ts'
import { findActivitySnapshot } from './queries.ts'

const api = await testApp(t)
const { db, deps, get, post, put, del, member, createMatch } = api
const { create, createWith, read, respond, match, letEverybodyFollow, unmatch } = activityApi(api)

const place = 'Secret gym 4711'
const note = 'Secret note'
const names = [place, note]
const exactPosition = ['-6.2186', '106.8018']
const block = async (who: Member, other: Member) =>
  await post(who.id, '/fitmatch/block', { blockedProfileId: other.profileId })

/** What a person gets at every endpoint of an activity, as text. */
async function readEverywhere (who: Member, id: string, userId: string) {
  const url = `/activities/${id}`
  const responses = [
    await get(who.id, url),
    await get(who.id, '/activities/nearby'),
    await get(who.id, '/activities?filter=upcoming'),
    await get(who.id, '/activities?filter=invitations'),
    await get(who.id, '/activities?filter=past'),
    await handleFitMatchOverview(deps).handle({ accountId: who.id }),
    await put(who.id, url, { title: 'Mine', version: 1 }),
    await post(who.id, `${url}/invite`, { userIds: [userId] }),
    await post(who.id, `${url}/requests/${userId}`, { accept: true }),
    await del(who.id, `${url}/participants/${userId}`),
    await post(who.id, `${url}/repeat`, { date: inDays(4) }),
    await post(who.id, `${url}/check-in`)
  ]
  return { responses, text: JSON.stringify(responses) }
}

t.test('the place, the note and the names are for those who take part, and its exact position for those who go', async (t) => {
  const people = await Promise.all(
    ['Ana', 'Ben', 'Ivy', 'Dee', 'Liv', 'Rem', 'Ask', 'Ref', 'Out'].map(async (name) => await member(name))
  )
  const [ana, going, invited, declined, left, removed, asked, refused, outsider] = people as [
    Member,
    ...Member[]
  ] & Record<1 | 2 | 3 | 4 | 5 | 6 | 7 | 8, Member>
  letEverybodyFollow()
  await match(ana, [invited, declined])
  const guests = [going, invited, declined, left, removed]
  const { id } = await create(ana, {
    capacity: 9,
    visibility: 'OPEN',
    locationName: place,
    note,
    userIds: guests.map((guest) => guest.id)
  })
  for (const guest of [going, left, removed]) await respond(guest, id)
  await respond(declined, id, false)
  await del(left.id, `/activities/${id}/join`)
  await del(ana.id, `/activities/${id}/participants/${removed.profileId}`)
  for (const guest of [asked, refused]) await post(guest.id, `/activities/${id}/join`)
  await post(ana.id, `/activities/${id}/requests/${refused.profileId}`, { accept: false })

  const cases: [string, Member, 'exact place' | 'place' | 'area' | 'nothing'][] = [
    ['host', ana, 'exact place'],
    ['going', going, 'exact place'],
    ['invited', invited, 'place'],
    ['declined', declined, 'area'],
    ['asked', asked, 'area'],
    ['outsider', outsider, 'area'],
    ['left', left, 'nothing'],
    ['removed', removed, 'nothing'],
    ['refused', refused, 'nothing']
  ]
  for (const [name, who, expected] of cases) {
    const takesPart = expected === 'exact place' || expected === 'place'
    const activity = await read(who, id)
    if (expected === 'nothing') t.equal(activity, undefined, name)
    else {
      t.match(
        activity,
        { id, title: 'Running', area: { city: 'Jakarta', distance: 6 }, host: { displayName: 'Ana' } },
        name
      )
      t.equal(activity.locationName, takesPart ? place : null, name)
      t.equal(activity.participants.length > 0, takesPart, name)
      if (expected === 'place') t.match(activity.venue, { name: place, latitude: -6.22, longitude: 106.8 }, name)
    }
    if (name === 'host') continue
    const { text } = await readEverywhere(who, id, outsider.id)
    for (const secret of names) t.equal(text.includes(secret), takesPart, `${name}: ${secret}`)
    for (const secret of exactPosition) t.equal(text.includes(secret), expected === 'exact place', `${name}: ${secret}`)
    if (!takesPart) {
      t.notMatch(
        text,
        new RegExp([ana, ...guests].map((each) => each.id).join('|')),
        `${name}: no account ids`
      )
    }
    if (expected === 'nothing') t.notMatch(text, new RegExp(id), `${name}: not even its id`)
  }
  t.same((await read(going, id)).participants.map(({ user }: { user: { name: string } }) => user.name).sort(), [
    'Ana',
    'Ben',
    'Ivy'
  ])
  t.same((await read(ana, id)).participants.map(({ state }: { state: string }) => state).sort(), [
    'ASKED',
    'DECLINED',
    'GOING',
    'GOING',
    'INVITED',
    'LEFT'
  ])
  const closed = await create(ana, { locationName: place })
  t.equal(await read(outsider, closed.id), undefined, 'an activity that is not open')
  delete api.services.connection
})

t.test('a block with the host hides an activity at every endpoint, in every state and from either side', async (t) => {
  for (const blocks of ['host', 'other'] as const) {
    for (const state of ['GOING', 'INVITED', 'ASKED', 'DECLINED', 'none'] as const) {
      const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
      await match(ana, [cleo, ben])
      const { id } = await createWith(ana, [cleo], { capacity: 5, visibility: 'OPEN', locationName: place })
      if (state === 'ASKED') await post(ben.id, `/activities/${id}/join`)
      else if (state !== 'none') await post(ana.id, `/activities/${id}/invite`, { userIds: [ben.id] })
      if (state === 'GOING') await respond(ben, id)
      if (state === 'DECLINED') await respond(ben, id, false)
      await (blocks === 'host' ? block(ana, ben) : block(ben, ana))
      const { responses, text } = await readEverywhere(ben, id, cleo.id)
      t.notMatch(text, new RegExp(`${id}|${place}`), `${state}, blocked by ${blocks}`)
      for (const response of [responses[0], ...responses.slice(6)]) t.match(response, { status: 404 }, state)
      t.match(await post(ben.id, `/activities/${id}/respond`, { accept: true, version: 1 }), { status: 404 })
      t.match(await post(ben.id, `/activities/${id}/join`), { status: 404 })
      t.match(await del(ben.id, `/activities/${id}/join`), { status: 404 })
      t.match(await read(ana, id), { goingCount: 2, status: 'PLANNED' })
      t.notMatch(JSON.stringify((await read(ana, id)).participants), ben.profileId)
    }
  }
})

t.test('a block or an unmatch ends the place, and with the host alone the activity', async (t) => {
  for (const how of ['block', 'blocked', 'unmatch', 'report'] as const) {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    const matchId = await createMatch(ana, ben)
    const [mine, theirs] = [await createWith(ana, [ben]), await createWith(ben, [ana])]
    if (how === 'block') await block(ana, ben)
    if (how === 'blocked') await block(ben, ana)
    if (how === 'unmatch') await unmatch(ana, matchId)
    if (how === 'report') await post(ana.id, '/fitmatch/report', { reportedProfileId: ben.profileId, reason: 'SPAM' })
    t.match(await read(ana, mine.id), { status: 'CANCELED', goingCount: 1 }, how)
    t.match(await read(ben, theirs.id), { status: 'CANCELED', goingCount: 1 }, how)
    t.equal(await read(ben, mine.id), undefined, how)
    t.equal(await read(ana, theirs.id), undefined, how)
  }
})

t.test('two guests who block each other both stay, and do not see each other', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben, cleo])
  await block(ben, cleo)
  t.match(await read(ben, id), { goingCount: 2, hasBlockedPerson: true, participants: [{}, { user: { id: ben.id } }] })
  t.match(await read(cleo, id), {
    goingCount: 2,
    hasBlockedPerson: false,
    participants: [{}, { user: { id: cleo.id } }]
  })
  t.equal((await read(ben, id)).participants.length, 2)
  t.match(await read(ana, id), { goingCount: 3, participants: { length: 3 } })
  const shared = await findActivitySnapshot(db, cleo.id, id, deps.now())
  t.match(shared, { participants: 2, isOpen: false }, 'nor does a post, and the place stays taken')
})

t.test('people blocked by somebody who takes part do not find it; people who blocked somebody are warned', async (t) => {
  const [ana, ben, cleo, dan] = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Dan')]
  letEverybodyFollow()
  const { id } = await createWith(ana, [ben], { visibility: 'OPEN', capacity: 5 })
  await block(ben, cleo)
  await block(dan, ben)
  t.equal(await read(cleo, id), undefined)
  t.notMatch(JSON.stringify(await get(cleo.id, '/activities/nearby')), new RegExp(id))
  t.match(await post(cleo.id, `/activities/${id}/join`), { status: 404 })
  t.match(await post(ana.id, `/activities/${id}/invite`, { userIds: [cleo.id] }), {
    status: 403,
    code: 'CANNOT_INVITE'
  })
  t.match(await read(dan, id), { hasBlockedPerson: true })
  t.match(await post(dan.id, `/activities/${id}/join`), { status: 200 })
  delete api.services.connection
})

t.test('a suspension or the deletion of a profile ends all places and cancels what the person hosts', async (t) => {
  for (const how of ['suspension', 'deletion'] as const) {
    const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
    letEverybodyFollow()
    const [hosted, joined] = [await createWith(ana, [ben, cleo]), await createWith(ben, [ana, cleo])]
    if (how === 'deletion') await del(ana.id, '/fitmatch/profile')
    else await post(cleo.id, '/fitmatch/report', { reportedProfileId: ana.profileId, reason: 'UNDERAGE' })
    t.match(await read(ben, hosted.id), { status: 'CANCELED' }, how)
    t.match(await read(ben, joined.id), { status: 'PLANNED', goingCount: 2 }, how)
    t.notMatch(JSON.stringify((await read(ben, joined.id)).participants), ana.profileId)
    delete api.services.connection
  }
})

t.test('people who were suspended later are hidden in past activities, and return with their profile', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  letEverybodyFollow()
  const { id } = await createWith(ana, [ben, cleo])
  await db.updateTable('activities').set({ status: 'FINISHED' }).where('id', '=', id).execute()
  const suspend = async (suspended: boolean, people: Member[]) => {
    for (const each of people) {
      await db.transaction().execute(async (trx) => await setSuspended(trx, each.id, suspended))
    }
  }
  const namesSeen = async () =>
    (await read(cleo, id)).participants.map(({ user }: { user: { name: string } }) => user.name).sort()
  t.same(await namesSeen(), ['Ana', 'Ben', 'Cleo'])
  await suspend(true, [ana, ben])
  t.match(await read(cleo, id), { status: 'FINISHED', goingCount: 1, host: null })
  t.same(await namesSeen(), ['Cleo'])
  const list = await get(cleo.id, '/activities?filter=past')
  t.match(list.data.activities, [{ id }])
  t.notMatch(JSON.stringify(list), new RegExp([ana, ben].flatMap((each) => [each.id, each.profileId]).join('|')))
  await suspend(false, [ana, ben])
  t.same(await namesSeen(), ['Ana', 'Ben', 'Cleo'])
  t.match(await read(cleo, id), { host: { profileId: ana.profileId } })
  delete api.services.connection
})

t.test('a paused profile is enough', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  for (const each of [ana, ben]) await put(each.id, '/fitmatch/settings', { status: 'PAUSED' })
  const { id } = await createWith(ana, [ben])
  t.match(await read(ben, id), { myState: 'GOING', participants: [{}, {}] })
})

t.test('the home screen shows exactly the documented fields, soonest first, for 14 days', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const matchId = await createMatch(ana, ben)
  const later = await createWith(ana, [ben], { date: inDays(5), title: 'Later' })
  const { id } = await createWith(ana, [ben], { title: 'Evening run' })
  await createWith(ana, [ben], { date: inDays(16) })
  await create(ben, { userIds: [ana.id] })
  const overview = await handleFitMatchOverview(deps).handle({ accountId: ana.id })
  const fields = { startTime: '18:00', endTime: '19:30', sport: 'running', locationName: 'Gelora, gate 5' }
  t.strictSame(
    (overview as { upcomingActivities: unknown }).upcomingActivities,
    [
      { id, title: 'Evening run', ...fields, date: inDays(3) },
      { id: later.id, title: 'Later', ...fields, date: inDays(5) }
    ].map(({ id, title, sport, date, startTime, endTime, locationName }) => ({
      id,
      title,
      sport,
      date,
      startTime,
      endTime,
      locationName
    }))
  )
  const { data } = await get(ben.id, `/fitmatch/chat/${matchId}`)
  t.equal(data.activities.length, 4, 'the chat shows those in which both take part')
  t.match(data.activities[0], { title: 'Evening run' })
})

t.test('nearby shows open activities within the maximum distance, by time and never by distance', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const near = await create(ana, { visibility: 'OPEN', date: inDays(4) })
  const far = await create(ana, { visibility: 'OPEN', date: inDays(3), latitude: -6.45, longitude: 106.85 })
  const outside = await create(ana, { visibility: 'OPEN', latitude: -7.5, longitude: 110 })
  const closed = await create(ana)
  const seenBy = async (who: Member, query = '') =>
    (await get(who.id, `/activities/nearby${query}`)).data.activities.map(({ id }: { id: string }) => id)
      .filter((id: string) => [near, far, outside, closed].some((each) => each.id === id))
  t.same(await seenBy(ben), [far.id, near.id])
  t.same(await seenBy(ben, `?from=${inDays(4)}`), [near.id])
  t.same(await seenBy(ben, `?to=${inDays(3)}`), [far.id])
  t.same(await seenBy(ben, '?sport=badminton'), [])
  await db.updateTable('profiles').set({ max_distance: 10 }).where('account_id', '=', ben.id).execute()
  t.same(await seenBy(ben), [near.id])
  t.same(await seenBy(ana), [], 'not those of the caller')
  t.match(await get(ben.id, '/activities/nearby?from=x'), { status: 400 })
})

t.test('an activity without a position is near for people in its city, with or without a position', async (t) => {
  const ana = await member('Ana', { city: 'Bandung' })
  const [near, nowhere] = [
    await member('Ben', { city: 'bandung' }),
    await member('Cleo', { city: 'Bandung', latitude: null, longitude: null })
  ]
  const [elsewhere, cityless] = [await member('Dan', { city: 'Solo' }), await member('Eva', { city: null })]
  const plan = { visibility: 'OPEN', latitude: undefined, longitude: undefined }
  const { id } = await create(ana, plan)
  const { id: inNoCity } = await create(cityless, plan)
  const seenBy = async (who: Member) =>
    (await get(who.id, '/activities/nearby')).data.activities.filter((each: { id: string }) =>
      each.id === id || each.id === inNoCity
    )
  for (const each of [near, nowhere]) {
    t.match(await seenBy(each), [{ id, area: { city: 'Bandung', distance: null } }])
    t.equal((await seenBy(each)).length, 1)
  }
  for (const each of [elsewhere, cityless]) t.same(await seenBy(each), [])
})

t.test('two places in one square of 0.01° look identical to everybody who does not take part', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const seen: unknown[] = []
  for (const [latitude, longitude] of [[-6.2449, 106.8351], [-6.2351, 106.8449], [-6.2551, 106.8351]] as const) {
    const { id } = await create(ana, { visibility: 'OPEN', latitude, longitude })
    const answers: unknown[] = []
    for (let km = 1; km <= 12; km++) {
      await db.updateTable('profiles').set({ max_distance: km }).where('account_id', '=', ben.id).execute()
      const { data } = await get(ben.id, '/activities/nearby')
      answers.push(
        data.activities.filter((each: { id: string }) => each.id === id).map((each: object) => ({ ...each, id: '' }))
      )
    }
    answers.push({ ...await read(ben, id), id: '' })
    seen.push(answers)
    await del(ana.id, `/activities/${id}`)
  }
  t.strictSame(seen[0], seen[1])
  t.notSame(seen[0], seen[2], 'the next square can be distinguished')
})

t.test('the place of a host who hides their distance is known by its area only', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await put(ana.id, '/fitmatch/settings', { showDistance: false })
  const seen: unknown[] = []
  for (const [latitude, longitude] of [[-6.2, 106.78], [-6.11, 106.87]] as const) {
    const { id } = await create(ana, { visibility: 'OPEN', latitude, longitude })
    const answers: unknown[] = []
    for (const km of [1, 3, 5, 8, 10, 12, 15, 20]) {
      await db.updateTable('profiles').set({ max_distance: km }).where('account_id', '=', ben.id).execute()
      const { data } = await get(ben.id, '/activities/nearby')
      answers.push(
        data.activities.filter((each: { id: string }) => each.id === id).map((each: object) => ({ ...each, id: '' }))
      )
    }
    t.match(await read(ben, id), { area: { distance: null } })
    seen.push(answers)
    await del(ana.id, `/activities/${id}`)
  }
  t.strictSame(seen[0], seen[1])
})
