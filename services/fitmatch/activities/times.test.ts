import { sql } from 'kysely'
import t from 'tap'
import { ActivityAttended, ActivityChanged, ActivityReminded } from '@tandem/contracts'
import { runHousekeeping } from '../housekeeping.ts'
import { activityApi, inDays } from '../test/activities.ts'
import { testApp } from '../test/app.ts'
import { runDueTimers } from './timers.ts'
import { instantsOf, TZDATA_VERSION } from './times.ts'

const api = await testApp(t)
const { db, deps, services, post, put, member, publishedEvents } = api
const { create, createWith, read, respond, match, list } = activityApi(api)

t.test('the instants follow from the local times, also around clock changes', (t) => {
  const of = (date: string, startTime: string, endTime: string, timezone: string) => {
    const { startsAt, endsAt } = instantsOf({ date, startTime, endTime, timezone })
    return [startsAt.toISOString(), (endsAt.getTime() - startsAt.getTime()) / 60_000]
  }
  t.same(of('2026-06-01', '18:00', '19:30', 'Europe/Berlin'), ['2026-06-01T16:00:00.000Z', 90])
  t.same(of('2026-12-01', '18:00', '19:30', 'Europe/Berlin'), ['2026-12-01T17:00:00.000Z', 90])
  t.same(of('2026-12-01', '23:30', '00:30', 'Europe/Berlin'), ['2026-12-01T22:30:00.000Z', 60], 'over midnight')
  t.same(of('2026-12-01', '18:00', '18:00', 'Europe/Berlin'), ['2026-12-01T17:00:00.000Z', 1440])
  // On 2026-03-29 the clocks of Berlin go from 2:00 to 3:00, and on 2026-10-25 from 3:00 back to 2:00.
  t.same(
    of('2026-03-29', '02:30', '04:00', 'Europe/Berlin'),
    ['2026-03-29T01:30:00.000Z', 30],
    'a missing hour is an hour later'
  )
  t.same(
    of('2026-03-29', '02:30', '03:00', 'Europe/Berlin'),
    ['2026-03-29T01:30:00.000Z', 30],
    'also if the end would be before it'
  )
  t.same(of('2026-03-29', '01:30', '03:30', 'Europe/Berlin'), ['2026-03-29T00:30:00.000Z', 60])
  t.same(of('2026-10-25', '02:30', '04:00', 'Europe/Berlin'), ['2026-10-25T00:30:00.000Z', 150], 'the first of two')
  t.same(of('2026-10-25', '01:30', '03:30', 'Europe/Berlin'), ['2026-10-24T23:30:00.000Z', 180])
  t.same(of('2026-12-01', '18:00', '19:30', 'IST'), ['2026-12-01T18:00:00.000Z', 90], 'UTC, if it cannot be read')
  // In New York on 2026-03-08 and 2026-11-01.
  t.same(of('2026-03-08', '02:30', '04:00', 'America/New_York'), ['2026-03-08T07:30:00.000Z', 30])
  t.same(of('2026-11-01', '01:30', '03:00', 'America/New_York'), ['2026-11-01T05:30:00.000Z', 150])
  t.same(of('2026-10-31', '23:30', '03:00', 'America/New_York'), ['2026-11-01T03:30:00.000Z', 270])
  t.end()
})

t.test('newer time zone data moves the instants, not the time on the clock, and people are notified', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  const moved = await createWith(ana, [ben])
  const unmoved = await createWith(ana, [ben])
  const hour = 60 * 60_000
  const stored = await db.selectFrom('activities').where('id', '=', moved.id).select(['starts_at', 'ends_at'])
    .executeTakeFirstOrThrow()
  // As an earlier version of the data would have written it.
  await db.updateTable('activities').set({ tzdata: '2000a' }).execute()
  await db.updateTable('activities').where('id', '=', moved.id)
    .set({ starts_at: new Date(stored.starts_at.getTime() + hour), ends_at: new Date(stored.ends_at.getTime() + hour) })
    .execute()
  for (let turn = 0; turn < 2; turn++) await runHousekeeping(deps)
  t.match(await read(ben, moved.id), {
    startTime: '18:00',
    startsAt: stored.starts_at.toISOString(),
    version: 1,
    myState: 'GOING'
  })
  t.match(await publishedEvents(ActivityChanged), [
    {
      activityId: moved.id,
      changedBy: null,
      accountIds: [ana.id, ben.id].sort(),
      startsAt: stored.starts_at.toISOString()
    }
  ])
  t.equal((await publishedEvents(ActivityChanged)).length, 1)
  const rows = await db.selectFrom('activities').select(['id', 'tzdata']).execute()
  t.ok(rows.every(({ tzdata }) => tzdata === TZDATA_VERSION))
  t.ok(rows.some(({ id }) => id === unmoved.id))
  const [timer] = await db.selectFrom('activity_timers').where('activity_id', '=', moved.id)
    .where('kind', '=', 'REMIND_1H').select('due_at').execute()
  t.equal(timer?.due_at.getTime(), stored.starts_at.getTime() - hour, 'reminders move with it')
})

t.test('reminders are published once, a day and an hour before, to those who go', async (t) => {
  await db.deleteFrom('activities').execute()
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben], { capacity: 3 })
  await post(ana.id, `/activities/${id}/invite`, { userIds: [cleo.id] })
  const at = async (time: string) => {
    services.now = new Date(time)
    await Promise.all([runDueTimers(db, deps.now), runDueTimers(db, deps.now), runDueTimers(db, deps.now)])
    return (await publishedEvents(ActivityReminded)).map(({ hoursBefore, accountIds }) => [hoursBefore, accountIds])
  }
  const both = [ana.id, ben.id].sort()
  t.same(await at(`${inDays(2)}T17:59:59Z`), [])
  t.same(await at(`${inDays(2)}T18:00:00Z`), [[24, both]])
  t.same(await at(`${inDays(3)}T16:59:59Z`), [[24, both]])
  t.same(await at(`${inDays(3)}T17:00:00Z`), [[24, both], [1, both]])
  const late = await createWith(ana, [ben], { startTime: '20:00', endTime: '21:00' })
  t.match(await list(ana, 'upcoming'), [{}, { id: late.id }])
  await at(`${inDays(3)}T20:00:01Z`)
  t.same(
    (await publishedEvents(ActivityReminded)).filter(({ activityId }) => activityId === late.id),
    [],
    'what was due before the plan, and what comes after the start, is not sent'
  )
  t.match(await read(ana, id), { status: 'FINISHED' })
  t.notMatch(JSON.stringify(await publishedEvents(ActivityReminded)), /Gelora/)
  delete services.now
})

t.test('an activity that cannot be changed keeps no other from its timers, and its own stay due', async (t) => {
  const ana = await member('Ana')
  const [broken, other] = [await create(ana), await create(ana)]
  const states = async () => [(await read(ana, broken.id)).status, (await read(ana, other.id)).status]
  await sql`alter table activities add constraint broken check (id <> ${sql.lit(broken.id)} or status <> 'FINISHED')`
    .execute(db)
  services.now = new Date(`${inDays(3)}T20:00:00Z`)
  await t.rejects(runDueTimers(db, deps.now), { code: '23514' })
  await sql`alter table activities drop constraint broken`.execute(db)
  const finished = await db.selectFrom('activities').where('id', 'in', [broken.id, other.id])
    .where('status', '=', 'FINISHED').select('id').execute()
  t.same(finished, [{ id: other.id }])
  await runDueTimers(db, deps.now)
  t.same(await states(), ['FINISHED', 'FINISHED'])
  delete services.now
})

t.test('places that stay reserved after a change become free two hours before the start', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  const { id } = await createWith(ana, [ben])
  await put(ana.id, `/activities/${id}`, { locationName: 'Monas', version: 1 })
  services.now = new Date(`${inDays(3)}T16:00:00Z`)
  await runDueTimers(db, deps.now)
  t.match(await read(ana, id), { goingCount: 1, participants: [{}, { state: 'INVITED', wasGoing: false }] })
  t.match(await respond(ben, id, true, 2), { status: 200 }, 'they are still invited')
  delete services.now
})

t.test('a person checks in from half an hour before the start to twelve hours after the end', async (t) => {
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben, cleo], { title: 'Evening run' })
  const checkIn = async (who: { id: string }, time: string) => {
    services.now = new Date(time)
    return await post(who.id, `/activities/${id}/check-in`)
  }
  t.match(await checkIn(ana, `${inDays(3)}T17:29:59Z`), { status: 409, code: 'NOT_YET' })
  const first = await checkIn(ana, `${inDays(3)}T17:30:00Z`)
  t.match(first, {
    status: 200,
    data: { checkedInAt: `${inDays(3)}T17:30:00.000Z`, workoutClientId: `activity:${id}` }
  })
  t.same((await checkIn(ana, `${inDays(3)}T18:30:00Z`)).data, first.data, 'again: the same answer')
  services.now = new Date(`${inDays(3)}T19:30:00Z`)
  for (let turn = 0; turn < 2; turn++) await runDueTimers(db, deps.now)
  t.match(await publishedEvents(ActivityAttended), [{
    activityId: id,
    accountId: ana.id,
    title: 'Evening run',
    startsAt: `${inDays(3)}T18:00:00.000Z`,
    endsAt: `${inDays(3)}T19:30:00.000Z`
  }])
  t.match(await checkIn(ben, `${inDays(3)}T22:00:00Z`), { status: 200 })
  await checkIn(ben, `${inDays(3)}T23:00:00Z`)
  t.same((await publishedEvents(ActivityAttended)).map(({ accountId }) => accountId), [ana.id, ben.id], 'once for each')
  t.match(await checkIn(cleo, `${inDays(4)}T07:30:01Z`), { status: 409, code: 'ACTIVITY_OVER' })
  delete services.now
})

t.test('places and notes are erased thirty days after the end', async (t) => {
  const ana = await member('Ana')
  const { id } = await create(ana)
  const ago = (days: number) => new Date(Date.now() - days * 24 * 60 * 60_000)
  const end = async (days: number) => {
    await db.updateTable('activities').where('id', '=', id)
      .set({ status: 'FINISHED', starts_at: ago(days + 1), ends_at: ago(days) }).execute()
    await runHousekeeping(deps)
    return await read(ana, id)
  }
  t.match(await end(29), { locationName: 'Gelora, gate 5' })
  t.match(await end(31), { locationName: null, venue: null, note: null })
  t.match(await post(ana.id, `/activities/${id}/repeat`, { date: inDays(3) }), { status: 409, code: 'ACTIVITY_OVER' })
})

t.test('after an outage of a day, only the reminder of an hour before is published', async (t) => {
  await db.deleteFrom('activities').execute()
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await match(ana, [ben])
  const { id } = await createWith(ana, [ben])
  services.now = new Date(`${inDays(3)}T17:50:00Z`)
  await runDueTimers(db, deps.now)
  delete services.now
  const reminded = (await publishedEvents(ActivityReminded)).filter(({ activityId }) => activityId === id)
  t.match(reminded, [{ hoursBefore: 1 }])
  t.equal(reminded.length, 1)
})
