import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ActivityConfirmed } from '@tandem/contracts'
import { activityApi, inDays, plan } from '../test/activities.ts'
import { inParallel, testApp, type Member } from '../test/app.ts'

const api = await testApp(t)
const { db, post, put, member, createMatch, publishedEvents } = api
const { create, createWith, match, letEverybodyFollow, respond, unmatch } = activityApi(api)

const readRow = async (id: string) =>
  await db.selectFrom('activities').where('id', '=', id).select(['going_count', 'version', 'status'])
    .executeTakeFirstOrThrow()
const readStates = async (id: string) =>
  await db.selectFrom('activity_participants').where('activity_id', '=', id)
    .select(['account_id', 'state', 'version', 'was_going']).execute()

t.test('of 60 acceptances at once, 9 get the 9 places', async (t) => {
  const ana = await member('Ana')
  const guests = await inParallel(60, async (turn) => await member(`G${turn}`))
  letEverybodyFollow()
  const { id } = await create(ana, { capacity: 10 })
  for (let from = 0; from < guests.length; from += 15) {
    // Sixty people are invited within the limits of two days.
    await db.deleteFrom('daily_quotas').execute()
    const userIds = guests.slice(from, from + 15).map((guest) => guest.id)
    t.equal((await post(ana.id, `/activities/${id}/invite`, { userIds })).status, 200)
  }
  const accept = async () =>
    (await Promise.all(guests.map(async (guest) => await respond(guest, id))))
      .map(({ status, code }) => `${status} ${code ?? ''}`)
  const first = await accept()
  t.equal(first.filter((status) => status === '200 ').length, 9)
  t.equal(first.filter((status) => status === '409 ACTIVITY_FULL').length, 51)
  t.same(await accept(), first, 'the repeat of an acceptance gets the same answer')
  const going = (await readStates(id)).filter(({ state }) => state === 'GOING')
  t.equal(going.length, 10)
  t.equal((await readRow(id)).going_count, 10)
  t.equal((await publishedEvents(ActivityConfirmed)).length, 9)
  delete api.services.connection
})

t.test(
  'nobody goes to a version that they did not name, when a change and an acceptance meet',
  async (t) => {
    const [ana, ben] = [await member('Ana'), await member('Ben')]
    await match(ana, [ben])
    const outcomes = new Set<string>()
    // How many milliseconds the answer waits for the change, or the change for the answer: who came first waits longer the
    // next time. How fast they are depends on the machine.
    let lead = 0
    for (let turn = 0; turn < 64; turn++) {
      await db.deleteFrom('daily_quotas').execute()
      await db.updateTable('activities').set({ status: 'FINISHED' }).execute()
      const { id } = await create(ana, { userIds: [ben.id] })
      const [answer] = await Promise.all([
        sleep(Math.max(0, lead)).then(async () => await respond(ben, id, true, 1)),
        sleep(Math.max(0, -lead)).then(async () =>
          await put(ana.id, `/activities/${id}`, { startTime: '17:00', version: 1 })
        )
      ])
      outcomes.add(String(answer.status))
      lead += answer.status === 200 ? 1 : -1
      const row = await readRow(id)
      const own = (await readStates(id)).find(({ account_id }) => account_id === ben.id)
      const holds = row.version === 2 && own?.state === 'INVITED' && own.was_going === (answer.status === 200) &&
        row.going_count === (own.was_going ? 2 : 1)
      if (!holds) t.fail(`turn ${turn}: ${JSON.stringify({ row, own, status: answer.status })}`)
    }
    t.same([...outcomes].sort(), ['200', '409'], 'each of the two came first at times')
  }
)

t.test('nobody goes with a host who has blocked or unmatched them, when both meet', async (t) => {
  const ana = await member('Ana')
  for (let turn = 0; turn < 60; turn++) {
    await db.deleteFrom('daily_quotas').execute()
    await db.updateTable('activities').set({ status: 'FINISHED' }).execute()
    const ben = await member(`Ben ${turn}`)
    const matchId = await createMatch(ana, ben)
    const { id } = await create(ana, { userIds: [ben.id], capacity: 3, visibility: 'OPEN' })
    const end = turn % 2 === 0
      ? async () => await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
      : async () => await unmatch(ben, matchId)
    await Promise.all([respond(ben, id), end()])
    const row = await readRow(id)
    const states = (await readStates(id)).filter(({ account_id }) => account_id === ben.id).map(({ state }) => state)
    if (states.join() !== 'REMOVED' || row.going_count !== 1 || row.status !== 'CANCELED') {
      t.fail(`turn ${turn}: ${JSON.stringify({ row, states })}`)
    }
  }
  t.pass('60 times')
})

t.test('invitations and ends of matches at once never deadlock', async (t) => {
  const people: Member[] = []
  for (let turn = 0; turn < 5; turn++) people.push(await member(`P${turn}`))
  for (const one of people) for (const other of people) if (one.id < other.id) await createMatch(one, other)
  const activities = []
  for (const one of people) activities.push({ host: one, ...await create(one, { capacity: 6 }) })
  const results = await Promise.all([
    ...activities.map(async ({ host, id }) =>
      await post(host.id, `/activities/${id}/invite`, {
        userIds: people.filter((each) => each !== host).map((each) => each.id)
      })
    ),
    ...people.slice(1).map(async (each) =>
      await post(people[0]!.id, '/fitmatch/report', { reportedProfileId: each.profileId, reason: 'UNDERAGE' })
    )
  ])
  t.same(results.filter(({ status }) => status >= 500), [])
  for (const { id } of activities) {
    const taken = (await readStates(id)).filter(({ state, was_going }) => state === 'GOING' || was_going).length
    t.equal((await readRow(id)).going_count, taken)
  }
})

t.test('a block waits for no activity that the two do not share', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await createMatch(ana, ben)
  const { id } = await create(ana)
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('activities').where('id', '=', id).select('id').forUpdate().execute()
    const blocked = await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
    t.match(blocked, { status: 200 })
  })
})

t.test('planning, inviting and repeating at once never deadlock', async (t) => {
  const ana = await member('Ana')
  const guests = [await member('Ben'), await member('Cem'), await member('Dan')]
  await match(ana, guests)
  const userIds = guests.map((each) => each.id)
  const { id } = await createWith(ana, guests)
  for (let turn = 0; turn < 16; turn++) {
    await db.deleteFrom('daily_quotas').execute()
    await db.updateTable('activities').set({ status: 'FINISHED' }).execute()
    const { id: planned } = await create(ana, { capacity: 5 })
    const answers = await Promise.all([
      post(ana.id, `/activities/${id}/repeat`, { date: inDays(10) }),
      sleep(turn % 8).then(async () => await post(ana.id, '/activities', plan({ userIds, capacity: 5 }))),
      sleep(turn % 8).then(async () => await post(ana.id, `/activities/${planned}/invite`, { userIds }))
    ])
    t.same(answers.map(({ status }) => status), [201, 201, 200])
  }
})

t.test('concurrent requests of one host never pass the limits of a day', async (t) => {
  const ana = await member('Ana')
  const results = await inParallel(15, async () => await create(ana).then(() => 201, () => 429))
  t.equal(results.filter((status) => status === 201).length, 10)
})
