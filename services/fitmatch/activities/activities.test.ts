import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ActivityAsked, ActivityCanceled, ActivityChanged, ActivityConfirmed, ActivityInvited } from '@tandem/contracts'
import { activityApi, inDays, plan } from '../test/activities.ts'
import { testApp } from '../test/app.ts'

const api = await testApp(t)
const { db, services, get, post, postOnce, put, del, member, publishedEvents } = api
const { create, createWith, read, respond, match, list, letEverybodyFollow } = activityApi(api)

t.test('people nearby find an open activity, until they take part in it', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const open = await create(ana, { visibility: 'OPEN' })
  const invited = await create(ana)
  const found = async (who: typeof ana, query = '') =>
    (await get(who.id, `/activities/nearby${query}`)).data.activities.map((each: { id: string }) => each.id) as string[]
  t.ok((await found(ben)).includes(open.id))
  t.notOk((await found(ben)).includes(invited.id))
  t.notOk((await found(ana)).includes(open.id), 'not by its host')
  t.notOk((await found(ben, '?sport=yoga')).includes(open.id))
  t.notOk((await found(ben, `?from=${inDays(4)}`)).includes(open.id))
  t.ok((await found(ben, `?from=${inDays(3)}&to=${inDays(3)}`)).includes(open.id))
})

t.test('a plan is created, accepted, and shown to both', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  const created = await post(ana.id, '/activities', plan({ title: 'Evening run', profileIds: [ben.profileId] }))
  t.equal(created.status, 201)
  const { id } = created.data.activity
  const date = inDays(3)
  t.match(created.data.activity, {
    title: 'Evening run',
    sport: 'running',
    date,
    startTime: '18:00',
    endTime: '19:30',
    timezone: 'Etc/UTC',
    startsAt: `${date}T18:00:00.000Z`,
    endsAt: `${date}T19:30:00.000Z`,
    locationName: 'Gelora, gate 5',
    venue: { name: 'Gelora, gate 5', branch: null, city: null, latitude: -6.2186, longitude: 106.8018 },
    area: { city: 'Jakarta', distance: 6 },
    note: 'Bring water',
    visibility: 'INVITED',
    capacity: 2,
    goingCount: 1,
    status: 'PLANNED',
    version: 1,
    host: { profileId: ana.profileId, displayName: 'Ana' },
    isHost: true,
    myState: 'GOING',
    firstMeeting: true,
    hasBlockedPerson: false,
    participants: [
      { user: { id: ana.id, name: 'Ana', image: String }, state: 'GOING', wasGoing: false, checkedInAt: null },
      { user: { id: ben.profileId, name: 'Ben' }, profileId: ben.profileId, state: 'INVITED' }
    ]
  })
  t.match(await publishedEvents(ActivityInvited), [
    { activityId: id, accountId: ben.id, hostId: ana.id, displayName: 'Ana', sport: 'running', timezone: 'Etc/UTC' }
  ])
  t.notMatch(JSON.stringify(await publishedEvents(ActivityInvited)), /Gelora/, 'events carry no place')

  t.match(await list(ben, 'invitations'), [{ id, myState: 'INVITED', locationName: 'Gelora, gate 5' }])
  t.same(await list(ben, 'upcoming'), [])
  t.match(await respond(ben, id), { status: 200, data: { activity: { myState: 'GOING', goingCount: 2 } } })
  t.match(await respond(ben, id), { status: 200 }, 'a repeat changes nothing')
  t.match(await publishedEvents(ActivityConfirmed), [{ accountId: ana.id, confirmedBy: ben.id, displayName: 'Ben' }])
  t.match(await list(ben, 'upcoming'), [{ id }])
  t.match(await list(ana, 'upcoming'), [{ id, goingCount: 2 }])

  t.match(await del(ben.id, `/activities/${id}/join`), { status: 200 })
  t.match(await get(ben.id, `/activities/${id}`), { status: 404, code: 'NOT_FOUND' }, 'who has left sees no place')
  t.match(await read(ana, id), { goingCount: 1, participants: [{}, { user: { name: 'Ben' }, state: 'LEFT' }] })
  t.match(await publishedEvents(ActivityAsked), [{ hostId: ana.id, askedBy: null, waitingCount: 0 }])
})

t.test('a repeat with the same key creates one activity', async (t) => {
  const ana = await member('Ana')
  const body = plan({ visibility: 'OPEN', capacity: 5 })
  const [one, two] = [
    await postOnce(ana.id, 'k1', '/activities', body),
    await postOnce(ana.id, 'k1', '/activities', body)
  ]
  t.same(two.data, one.data)
  t.equal((await list(ana, 'upcoming')).length, 1)
})

t.test('a repeat with the same key gets its activity also while social, which was asked about a guest, is unavailable', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  letEverybodyFollow()
  const body = plan({ userIds: [ben.id] })
  const { status, data } = await postOnce(ana.id, 'k1', '/activities', body)
  t.equal(status, 201)
  delete services.connection
  t.match(await postOnce(ana.id, 'k1', '/activities', body), { status: 201, data })
  t.match(await postOnce(ana.id, 'k2', '/activities', body), { status: 503 })
})

t.test('what is sent is checked', async (t) => {
  const ana = await member('Ana')
  const now = Date.now()
  const soon = new Date(now + 10 * 60_000).toISOString()
  for (
    const fields of [
      { locationName: undefined, latitude: undefined, longitude: undefined },
      { locationName: undefined },
      { latitude: undefined },
      { sport: 'chess' },
      { sport: '' },
      { date: '2026-02-30' },
      { date: inDays(-1) },
      { date: inDays(92) },
      { date: soon.slice(0, 10), startTime: soon.slice(11, 16), endTime: '23:59' },
      { startTime: '24:00' },
      { startTime: '6:00' },
      { endTime: '18:14' },
      { endTime: '06:01' },
      { timezone: 'Mars/Olympus' },
      { timezone: '+07:00' },
      { capacity: 1 },
      { capacity: 21 },
      { visibility: 'PUBLIC' },
      { venueId: crypto.randomUUID() }
    ]
  ) {
    t.match(
      await post(ana.id, '/activities', plan(fields)),
      { status: 400, code: 'VALIDATION_ERROR' },
      JSON.stringify(fields)
    )
  }
  for (const venueId of [crypto.randomUUID(), 'gym-5']) {
    const foreign = plan({ venueId, locationName: undefined, latitude: undefined, longitude: undefined })
    t.match(await post(ana.id, '/activities', foreign), { status: 404, code: 'NOT_FOUND' })
  }
  const midnight = await create(ana, { startTime: '23:00', endTime: '01:00' })
  t.match(await read(ana, midnight.id), { endsAt: `${inDays(4)}T01:00:00.000Z` })
  t.match(await read(ana, (await create(ana, { title: undefined, sport: 'badminton' })).id), { title: 'Badminton' })
  t.match(await get(ana.id, '/activities?cursor=x'), { status: 400 })
  t.match(await get(ana.id, '/activities?cursor=2026-99-99T00:00:00.000Z_019aa1f0-0000-7000-8000-00000000000a'), {
    status: 400
  })
})

t.test('the title follows the sport until the host gives one', async (t) => {
  const ana = await member('Ana')
  const { id } = await create(ana)
  const change = async (fields: object) =>
    (await put(ana.id, `/activities/${id}`, { version: 1, ...fields })).data.activity.title as string
  t.equal(await change({ sport: 'badminton' }), 'Badminton')
  t.equal(await change({ note: 'New note' }), 'Badminton')
  t.equal(await change({ sport: 'running', title: 'Evening run' }), 'Evening run')
  t.equal(await change({ sport: 'badminton' }), 'Evening run')
})

t.test('a venue of the host is copied, and later changes of it change nothing', async (t) => {
  const ana = await member('Ana')
  const { data: { venue } } = await post(ana.id, '/fitmatch/profile/venues', {
    name: 'Gelora',
    branch: 'South',
    city: 'Bandung',
    latitude: -6.9,
    longitude: 107.6
  })
  const { id } = await create(ana, {
    venueId: venue.id,
    locationName: undefined,
    latitude: undefined,
    longitude: undefined
  })
  const shown = { locationName: 'Gelora', venue: { name: 'Gelora', branch: 'South', city: 'Bandung', latitude: -6.9 } }
  t.match(await read(ana, id), { ...shown, area: { city: 'Bandung' } })
  await del(ana.id, `/fitmatch/profile/venues?id=${venue.id}`)
  t.match(await read(ana, id), shown)
})

t.test('matches and followers can be invited; all of the people or nobody', async (t) => {
  const [ana, ben, cleo, dan] = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Dan')]
  await match(ana, [ben])
  const invite = async (...people: { id: string }[]) =>
    await post(ana.id, `/activities/${id}/invite`, { userIds: people.map((person) => person.id) })
  const { id } = await create(ana, { capacity: 5 })
  t.match(await invite(ben, cleo), { status: 503 }, 'only a follow could connect Cleo, and social is unavailable')
  services.connection = ({ otherId }) => ({ isMatched: false, hasBlocked: false, isFollower: otherId === cleo.id })
  t.match(await invite(ben, dan), { status: 403, code: 'CANNOT_INVITE' })
  t.equal((await read(ana, id)).participants.length, 1)
  t.match(await invite(ben, cleo), {
    status: 200,
    data: { activity: { participants: [{}, {}], invitedFollowers: [{ user: { id: cleo.id } }] } }
  })
  const used = async () =>
    (await db.selectFrom('daily_quotas').where('name', '=', 'invitations').where('account_id', '=', ana.id)
      .select('used').executeTakeFirst())?.used
  const usedBefore = await used()
  t.match(await invite(ben, cleo), { status: 200 }, 'a repeat changes nothing')
  t.equal(await used(), usedBefore)
  const own = { userIds: [ana.id], profileIds: [ana.profileId] }
  t.match(await post(ana.id, `/activities/${id}/invite`, own), { status: 200 }, 'the host may name themselves')
  t.equal(await used(), usedBefore)
  t.match(await invite(dan, { id: crypto.randomUUID() }), { status: 404, code: 'NOT_FOUND' })
  t.match(await post(ana.id, '/activities', plan({ userIds: [dan.id] })), { status: 403, code: 'CANNOT_INVITE' })
  t.equal((await list(ana, 'upcoming')).length, 1, 'nothing is created')
  await post(dan.id, '/fitmatch/block', { blockedProfileId: ana.profileId })
  t.match(await invite(dan), { status: 404 }, 'blocked people do not exist for each other')
  delete services.connection
})

t.test('somebody who follows the host shows their profile by accepting, and not before', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const cleo = await member('Cleo', { fields: { displayName: 'Cleopatra' } })
  await match(ana, [ben])
  const { id } = await createWith(ana, [ben], { capacity: 4 })
  letEverybodyFollow()
  const invite = async (invitees: object) => await post(ana.id, `/activities/${id}/invite`, invitees)
  const invited = await invite({ userIds: [cleo.id] })
  t.match(invited, { status: 200, data: { activity: { participants: { length: 2 } } } })
  t.strictSame(invited.data.activity.invitedFollowers, [{ user: { id: cleo.id, name: 'Cleo' }, state: 'INVITED' }])
  const seen = JSON.stringify([invited, await read(ana, id), await list(ana, 'upcoming')])
  t.notMatch(seen, new RegExp(`${cleo.profileId}|Cleopatra`), 'the host sees the account alone')
  t.match(await read(ben, id), { participants: { length: 2 }, invitedFollowers: [] }, 'and others nobody')
  t.match(await read(cleo, id), { myState: 'INVITED', invitedFollowers: [] })
  await respond(cleo, id, false)
  t.match(await read(ana, id), { participants: { length: 2 }, invitedFollowers: [{ state: 'DECLINED' }] })

  await invite({ userIds: [cleo.id] })
  await respond(cleo, id)
  t.match(await read(ana, id), { invitedFollowers: [], participants: [{}, {}, { user: { id: cleo.profileId } }] })
  t.match(await read(ben, id), { participants: [{}, {}, { user: { name: 'Cleopatra' } }] })
  delete services.connection
})

t.test('a follow tells nothing about a profile: neither whose it is nor that it is paused', async (t) => {
  const [ana, ben, cleo, dan] = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Dan')]
  await match(ana, [ben])
  services.connection = ({ otherId }) => ({ isMatched: false, hasBlocked: false, isFollower: otherId === cleo.id })
  const { id } = await create(ana, { capacity: 5 })
  const invite = async (invitees: object) => await post(ana.id, `/activities/${id}/invite`, invitees)
  const used = async () =>
    (await db.selectFrom('daily_quotas').where('account_id', '=', ana.id).where('name', '=', 'invitations')
      .select('used').executeTakeFirstOrThrow()).used
  const answers: unknown[] = []
  for (const { profileId } of [cleo, dan]) {
    const alone = await invite({ profileIds: [profileId] })
    const before = await used()
    const mixed = await invite({ userIds: [cleo.id], profileIds: [profileId] })
    answers.push([alone.status, alone.code, mixed.status, mixed.code, await used() - before])
  }
  t.strictSame(answers[0], [403, 'CANNOT_INVITE', 403, 'CANNOT_INVITE', 2])
  t.strictSame(answers[0], answers[1], 'the profile of a follower is like any other')
  t.match(await invite({ userIds: [cleo.id], profileIds: [ben.profileId] }), { status: 200 })
  await put(cleo.id, '/fitmatch/settings', { status: 'PAUSED' })
  t.match(await invite({ userIds: [cleo.id] }), { status: 403, code: 'CANNOT_INVITE' })
  delete services.connection
})

t.test('two people are not invited together if one has blocked the other, as not one after the other', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  await post(ben.id, '/fitmatch/block', { blockedProfileId: cleo.profileId })
  const userIds = [ben.id, cleo.id]
  t.match(await post(ana.id, '/activities', plan({ userIds })), { status: 403, code: 'CANNOT_INVITE' })
  const { id } = await create(ana, { capacity: 3 })
  const invite = async (userIds: string[]) => await post(ana.id, `/activities/${id}/invite`, { userIds })
  t.match(await invite(userIds), { status: 403, code: 'CANNOT_INVITE' })
  t.match(await invite([ben.id]), { status: 200 })
  t.match(await invite([cleo.id]), { status: 403, code: 'CANNOT_INVITE' })
})

t.test('refused invitations count, so that they cannot be used to find out about people', async (t) => {
  const [ana, dan] = [await member('Ana'), await member('Dan')]
  services.connection = () => ({ isMatched: false, hasBlocked: false })
  const { id } = await create(ana)
  const codes: unknown[] = []
  for (let turn = 0; turn < 31; turn++) {
    codes.push((await post(ana.id, `/activities/${id}/invite`, { userIds: [dan.id] })).code)
  }
  t.same(codes, [...Array<string>(30).fill('CANNOT_INVITE'), 'LIMIT_EXCEEDED'])
  delete services.connection
})

t.test('people ask for a place in an open activity, and the host decides', async (t) => {
  const [ana, ben, cleo, dan] = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Dan')]
  const { id } = await create(ana, { visibility: 'OPEN', capacity: 2 })
  const answer = async (person: { profileId: string }, accept: boolean) =>
    await post(ana.id, `/activities/${id}/requests/${person.profileId}`, { accept })
  for (const guest of [ben, cleo, dan]) {
    t.match(await post(guest.id, `/activities/${id}/join`), {
      status: 200,
      data: { activity: { myState: 'ASKED', locationName: null, venue: null, note: null, participants: [] } }
    })
  }
  t.match(await post(ben.id, `/activities/${id}/join`), { status: 200 }, 'a repeat changes nothing')
  t.match((await publishedEvents(ActivityAsked)).filter(({ activityId }) => activityId === id), [
    { hostId: ana.id, askedBy: ben.id, displayName: 'Ben', waitingCount: 1 },
    { askedBy: cleo.id, waitingCount: 2 },
    { askedBy: dan.id, waitingCount: 3 }
  ])
  t.match(await answer(dan, false), { status: 200 })
  t.match(await get(dan.id, `/activities/${id}`), { status: 404 }, 'a refused person no longer sees it')
  t.match(await post(dan.id, `/activities/${id}/join`), { status: 404 })
  t.match(await answer(ben, true), { status: 200, data: { activity: { goingCount: 2 } } })
  t.match(await read(ben, id), { myState: 'GOING', locationName: 'Gelora, gate 5' })
  t.match(await answer(cleo, true), { status: 409, code: 'ACTIVITY_FULL' })
  t.match(await answer({ profileId: crypto.randomUUID() }, true), { status: 404 })
  t.match(await del(ben.id, `/activities/${id}/join`), { status: 200 })
  t.match(
    (await publishedEvents(ActivityAsked)).at(-1),
    { activityId: id, askedBy: null, waitingCount: 1 },
    'no one moves up'
  )
  t.match(await answer(cleo, true), { status: 200 })
  t.match((await publishedEvents(ActivityConfirmed)).at(-1), {
    accountId: cleo.id,
    confirmedBy: ana.id,
    displayName: 'Ana'
  })
})

t.test('a host names people as they see them, and no answer says whose profile it is', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  const { id } = await create(ana, { visibility: 'OPEN', capacity: 5 })
  const answer = async (userId: string) => await post(ana.id, `/activities/${id}/requests/${userId}`, { accept: false })
  const remove = async (userId: string) => await del(ana.id, `/activities/${id}/participants/${userId}`)
  await post(ben.id, `/activities/${id}/join`)
  t.match(await answer(ben.id), { status: 404, code: 'NOT_FOUND' }, 'not by an account')
  t.match(await answer(ben.profileId), { status: 200 })
  t.match([await answer(ben.id), await remove(ben.id)], [{ status: 404 }, { status: 404 }])

  letEverybodyFollow()
  await post(ana.id, `/activities/${id}/invite`, { userIds: [cleo.id] })
  t.match(await remove(cleo.profileId), { status: 404 }, 'not an invited follower by their profile')
  t.match(await remove(cleo.id), { status: 200, data: { activity: { invitedFollowers: [] } } })
  await post(ana.id, `/activities/${id}/invite`, { userIds: [cleo.id] })
  await respond(cleo, id)
  t.match(await remove(cleo.id), { status: 404 }, 'nor by their account, once they show the profile')
  t.match(await remove(cleo.profileId), { status: 200 })
  delete services.connection
})

t.test('a request can be withdrawn and made again', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const { id } = await create(ana, { visibility: 'OPEN' })
  await post(ben.id, `/activities/${id}/join`)
  await del(ben.id, `/activities/${id}/join`)
  t.match(await read(ben, id), { myState: null })
  t.match(await post(ben.id, `/activities/${id}/join`), { status: 200, data: { activity: { myState: 'ASKED' } } })
  const codes: unknown[] = []
  for (let turn = 0; turn < 19; turn++) {
    await del(ben.id, `/activities/${id}/join`)
    codes.push((await post(ben.id, `/activities/${id}/join`)).code)
  }
  t.same(codes, [...Array(18).fill(undefined), 'LIMIT_EXCEEDED'])
  const closed = await create(ana)
  t.match(await post(ben.id, `/activities/${closed.id}/join`), { status: 404 })
})

t.test('a change of the time or the place asks everyone again, and nobody agrees to what they have not seen', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben], { capacity: 2, visibility: 'OPEN' })
  await post(cleo.id, `/activities/${id}/join`)
  t.match(await put(ana.id, `/activities/${id}`, { title: 'Sunset run', version: 1 }), {
    data: { activity: { version: 1, title: 'Sunset run', goingCount: 2 } }
  })
  t.match(await put(ana.id, `/activities/${id}`, { startTime: '18:30', version: 1 }), {
    data: { activity: { version: 2, goingCount: 2, participants: [{}, { state: 'INVITED', wasGoing: true }, {}] } }
  })
  t.match(await publishedEvents(ActivityChanged), [{ activityId: id, accountIds: [ben.id], changedBy: ana.id }])
  t.match(await put(ana.id, `/activities/${id}`, { startTime: '19:00', version: 1 }), {
    status: 409,
    code: 'ACTIVITY_CHANGED'
  })
  t.match(await put(ana.id, `/activities/${id}`, { capacity: 2, startTime: '18:30', version: 2 }), {
    data: { activity: { version: 2 } }
  }, 'the same values are no change')
  t.match(await respond(ben, id, true, 1), { status: 409, code: 'ACTIVITY_CHANGED' })
  t.match(await post(ana.id, `/activities/${id}/requests/${cleo.profileId}`, { accept: true }), { status: 200 })
  t.match(await read(cleo, id), { myState: 'INVITED' }, 'Cleo asked for the earlier time, and is invited')
  t.match(await respond(cleo, id, true, 2), { status: 409, code: 'ACTIVITY_FULL' }, "Ben's place is reserved")
  t.match(await respond(ben, id, true, 2), { status: 200, data: { activity: { goingCount: 2, myState: 'GOING' } } })
  t.match(await put(ana.id, `/activities/${id}`, { locationName: 'Monas', version: 2 }), {
    data: { activity: { version: 3 } }
  })
  t.match(await respond(ben, id, false, 1), { status: 200, data: { activity: { goingCount: 1, myState: 'DECLINED' } } })
  t.match(await respond(cleo, id, true, 3), { status: 200 })
  t.match(await put(ana.id, `/activities/${id}`, { capacity: 1, version: 3 }), { status: 400 })
  t.match(await put(ben.id, `/activities/${id}`, { title: 'Mine', version: 3 }), { status: 404 })
})

t.test('a plan that was moved and then canceled is among the past ones of those who had agreed', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben], { capacity: 3 })
  await post(ana.id, `/activities/${id}/invite`, { userIds: [cleo.id] })
  await put(ana.id, `/activities/${id}`, { startTime: '18:30', version: 1 })
  t.same(await list(ben, 'past'), [])
  await del(ana.id, `/activities/${id}`)
  t.match(await list(ben, 'past'), [{ id, status: 'CANCELED', myState: 'INVITED' }])
  t.same(await list(cleo, 'past'), [], 'not of those who had not')
  t.same(await list(ben, 'invitations'), [])
})

t.test('from two hours before the start, the time and the place are final', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  const { id } = await createWith(ana, [ben])
  await put(ana.id, `/activities/${id}`, { locationName: 'Monas', version: 1 })
  services.now = new Date(`${inDays(3)}T16:00:01Z`)
  t.match(await put(ana.id, `/activities/${id}`, { startTime: '19:00', version: 2 }), { status: 409, code: 'TOO_LATE' })
  t.match(await put(ana.id, `/activities/${id}`, { locationName: 'Gelora', version: 2 }), {
    status: 409,
    code: 'TOO_LATE'
  })
  t.match(await put(ana.id, `/activities/${id}`, { note: 'New note', version: 2 }), { status: 200 })
  t.match(await del(ana.id, `/activities/${id}`), { status: 200 })
  t.match(await publishedEvents(ActivityCanceled).then((events) => events.at(-1)), {
    activityId: id,
    accountIds: [ana.id, ben.id].sort(),
    reason: 'CANCELED',
    notifiedIds: [ben.id]
  })
  t.match(await del(ana.id, `/activities/${id}`), { status: 409, code: 'ACTIVITY_OVER' })
  t.match(await respond(ben, id, true, 2), { status: 409, code: 'ACTIVITY_OVER' })
  t.match(await read(ben, id), { status: 'CANCELED' })
  delete services.now
})

t.test('a host removes people and withdraws invitations', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben], { capacity: 3 })
  await post(ana.id, `/activities/${id}/invite`, { userIds: [cleo.id] })
  const remove = async (person: { profileId: string }) =>
    await del(ana.id, `/activities/${id}/participants/${person.profileId}`)
  t.match(await remove(ben), { status: 200, data: { activity: { goingCount: 1 } } })
  t.match(await remove(cleo), { status: 200 })
  t.match((await publishedEvents(ActivityCanceled)).slice(-2), [
    { accountIds: [ben.id], reason: 'PLACE_ENDED', notifiedIds: [ben.id] },
    { accountIds: [cleo.id], reason: 'PLACE_ENDED', notifiedIds: [] }
  ])
  t.match(await get(ben.id, `/activities/${id}`), { status: 404 })
  t.match(await remove(ana), { status: 404 })
  t.match(
    await post(ana.id, `/activities/${id}/invite`, { userIds: [ben.id] }),
    { status: 200 },
    'they can be invited again'
  )
  t.match(await respond(ben, id), { status: 200 })
  t.match(await del(ana.id, `/activities/${id}/join`), { status: 400 }, 'a host cancels')
})

t.test('a finished activity can be repeated with everyone who went', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  letEverybodyFollow()
  const { id } = await createWith(ana, [ben, cleo], { title: 'Long run' })
  t.match(await post(ana.id, `/activities/${id}/repeat`, { date: inDays(10) }), {
    status: 409,
    code: 'ACTIVITY_NOT_OVER'
  })
  services.now = new Date(`${inDays(3)}T20:00:00Z`)
  await post(cleo.id, '/fitmatch/block', { blockedProfileId: ana.profileId })
  const { status, data } = await post(ana.id, `/activities/${id}/repeat`, { date: inDays(10) })
  t.equal(status, 201)
  t.match(data.activity, {
    title: 'Long run',
    date: inDays(10),
    startTime: '18:00',
    locationName: 'Gelora, gate 5',
    version: 1,
    participants: [{}, { user: { id: ben.profileId }, state: 'INVITED' }]
  })
  t.equal(data.activity.participants.length, 2)
  t.match(await post(ben.id, `/activities/${id}/repeat`, { date: inDays(10) }), { status: 404 })
  t.match((await list(ben, 'past'))[0], { id, status: 'FINISHED' })
  t.match(await read(ben, data.activity.id), { firstMeeting: true }, 'until the worker has marked it as finished')
  await db.updateTable('activities').set({ status: 'FINISHED' }).where('id', '=', id).execute()
  t.match(await read(ben, data.activity.id), { firstMeeting: false })
  delete services.now
  delete services.connection
})

t.test('ten activities a day, and thirty planned', async (t) => {
  const ana = await member('Ana')
  for (let turn = 0; turn < 10; turn++) await create(ana)
  t.match(await post(ana.id, '/activities', plan()), { status: 429, code: 'LIMIT_EXCEEDED' })
  await db.deleteFrom('daily_quotas').execute()
  const { id } = await create(ana)
  const row = await db.selectFrom('activities').where('id', '=', id).selectAll().executeTakeFirstOrThrow()
  const { id: _, cell: _cell, venue, ...copy } = row
  await db.insertInto('activities').values(
    Array.from({ length: 19 }, () => ({ ...copy, venue: JSON.stringify(venue) }))
  ).execute()
  t.match(await post(ana.id, '/activities', plan()), { status: 429, code: 'LIMIT_EXCEEDED' })
})

t.test('a host moves activities 20 times a day, as each move notifies everybody who is invited', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  const { id } = await createWith(ana, [ben])
  const move = async (version: number) =>
    await put(ana.id, `/activities/${id}`, { locationName: `Gate ${version}`, version })
  for (let version = 1; version <= 20; version++) t.match(await move(version), { status: 200 })
  const published = (await publishedEvents(ActivityChanged)).length
  t.match(await move(21), { status: 429, code: 'LIMIT_EXCEEDED' })
  t.equal((await publishedEvents(ActivityChanged)).length, published)
  t.match(await put(ana.id, `/activities/${id}`, { note: 'Bring water', version: 21 }), { status: 200 })
  t.match(await read(ana, id), { locationName: 'Gate 20', version: 21 })
})

t.test('lists are paged, also when activities start at the same time', async (t) => {
  const ana = await member('Ana')
  for (let turn = 0; turn < 5; turn++) await create(ana)
  const seen: string[] = []
  let cursor = ''
  do {
    const { data } = await get(ana.id, `/activities?limit=2&cursor=${cursor}`)
    seen.push(...data.activities.map(({ id }: { id: string }) => id))
    cursor = data.nextCursor ?? ''
  } while (cursor)
  t.equal(new Set(seen).size, 5)
  t.equal(seen.length, 5)
})

t.test('nobody takes part without a profile, when suspended, too young or of unknown age', async (t) => {
  const [ana, young, ageless, suspended] = [
    await member('Ana'),
    await member('Young'),
    await member('Ageless'),
    await member('Sue')
  ]
  const nobody = api.person('Nobody')
  const { id } = await create(ana, { visibility: 'OPEN' })
  const birthDate = Temporal.Now.plainDateISO('UTC').subtract({ years: 17 }).toString()
  await db.updateTable('profiles').set({ birth_date: birthDate }).where('account_id', '=', young.id).execute()
  await db.updateTable('profiles').set({ birth_date: null }).where('account_id', '=', ageless.id).execute()
  await db.updateTable('profiles').set({ suspended: true }).where('account_id', '=', suspended.id).execute()
  const posts: [string, object][] = [
    ['/activities', plan()],
    [`/activities/${id}/invite`, { userIds: [ana.id] }],
    [`/activities/${id}/respond`, { accept: true, version: 1 }],
    [`/activities/${id}/join`, {}],
    [`/activities/${id}/requests/${ana.id}`, { accept: true }],
    [`/activities/${id}/repeat`, { date: inDays(5) }],
    [`/activities/${id}/check-in`, {}]
  ]
  for (const [url, body] of posts) {
    t.match(await post(young.id, url, body), { status: 403, code: 'AGE_RESTRICTED' }, `17 years: ${url}`)
    t.match(await post(ageless.id, url, body), { status: 403, code: 'AGE_RESTRICTED' }, `no birth date: ${url}`)
    t.match(await post(suspended.id, url, body), { status: 403, code: 'PROFILE_SUSPENDED' }, `suspended: ${url}`)
    t.match(await post(nobody, url, body), { status: 404, code: 'PROFILE_NOT_FOUND' }, `no profile: ${url}`)
  }
  letEverybodyFollow()
  for (const guest of [young, ageless, suspended]) {
    t.match(await post(ana.id, `/activities/${id}/invite`, { userIds: [guest.id] }), {
      status: 403,
      code: 'CANNOT_INVITE'
    })
  }
  await db.insertInto('members').values({ account_id: nobody }).execute()
  t.match(await post(ana.id, `/activities/${id}/invite`, { userIds: [nobody] }), { status: 403, code: 'CANNOT_INVITE' })
  delete services.connection
})

t.test('an activity with more invited people than one event can name is changed and canceled for all of them', async (t) => {
  const ana = await member('Ana')
  const { id } = await create(ana)
  const invited = Array.from({ length: 1_200 }, () => randomUUID()).sort()
  await db.insertInto('activity_participants')
    .values(invited.map((account_id) => ({ activity_id: id, account_id, state: 'INVITED', version: 1 }))).execute()
  const inEvents = async (event: typeof ActivityCanceled | typeof ActivityChanged) =>
    (await publishedEvents(event)).filter(({ activityId }) => activityId === id)
  t.match(await put(ana.id, `/activities/${id}`, { version: 1, startTime: '18:30' }), { status: 200 })
  t.same((await inEvents(ActivityChanged)).flatMap(({ accountIds }) => accountIds), invited)
  t.match(await del(ana.id, `/activities/${id}`), { status: 200 })
  const canceled = await inEvents(ActivityCanceled)
  t.same(canceled.flatMap(({ accountIds }) => accountIds), [...invited, ana.id].sort())
  t.same(canceled.flatMap(({ notifiedIds }) => notifiedIds), invited, 'the host need not be notified')
})
