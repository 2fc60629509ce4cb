import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { ActivityAttended } from '@tandem/contracts'
import { testApp, workout } from '../test/app.ts'
import { onActivityAttended } from './consumers.ts'

const { newUser, deps, at } = await testApp(t)
const activityId = '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a2a'
const [startsAt, endsAt] = ['2026-11-20T11:00:00.000Z', '2026-11-20T12:30:00.000Z']

function attendee () {
  const user = newUser({ now: '2026-11-20T13:00:00Z' })
  const id = crypto.randomUUID()
  return {
    ...user,
    attend: async (fields: object = {}, eventId = id) =>
      await deliver([onActivityAttended(deps)], ActivityAttended.type, {
        activityId,
        accountId: user.account,
        title: 'Evening run',
        sport: 'running',
        startsAt,
        endsAt,
        timezone: 'Asia/Jakarta',
        ...fields
      }, { id: eventId }),
    workouts: async () => (await user.read('/logs?type=WORKOUT')).logs,
    xp: async () => (await user.read('/dashboard/stats')).stats.totalXp
  }
}

t.test('an attended activity is logged once as a workout of the planned length', async (t) => {
  const { attend, workouts, xp } = attendee()
  for (let turn = 0; turn < 3; turn++) await attend()
  t.match(await workouts(), [{
    clientId: `activity:${activityId}`,
    type: 'WORKOUT',
    at: startsAt,
    data: { title: 'Evening run', durationMinutes: 90 }
  }])
  t.equal((await workouts()).length, 1)
  t.equal(await xp(), 110, '50, and one for each of 60 minutes')
  await attend({}, crypto.randomUUID())
  t.equal(await xp(), 110, 'another event about the same activity changes nothing')
})

t.test('it is of the day at the place of the activity', async (t) => {
  const { attend, workouts } = attendee()
  await attend({
    timezone: 'Pacific/Honolulu',
    startsAt: '2026-11-20T07:00:00.000Z',
    endsAt: '2026-11-20T08:00:00.000Z'
  })
  t.match(await workouts(), [{ day: '2026-11-19', timezone: 'Pacific/Honolulu' }])
})

t.test('concurrent deliveries log it once', async (t) => {
  const { attend, workouts, xp } = attendee()
  await Promise.all(Array.from({ length: 8 }, async () => await attend()))
  await Promise.all(Array.from({ length: 8 }, async () => await attend({}, crypto.randomUUID())))
  t.equal((await workouts()).length, 1)
  t.equal(await xp(), 110)
})

t.test('a deleted workout stays deleted when the event comes again', async (t) => {
  const { attend, workouts, send } = attendee()
  await attend()
  const [{ id }] = await workouts()
  await send('DELETE', `/logs/${id}`)
  await attend()
  t.same(await workouts(), [])
})

t.test("the phone's own log of the activity counts, whichever comes first", async (t) => {
  for (const isFirst of [true, false]) {
    const { attend, workouts, log, xp } = attendee()
    const own = workout('2026-11-20T11:05:00Z', { durationMinutes: 80 }, { clientId: `activity:${activityId}` })
    if (isFirst) await log(own)
    await attend()
    if (!isFirst) await log(own)
    t.match(await workouts(), [{ at: '2026-11-20T11:05:00.000Z', data: { durationMinutes: 80 } }])
    t.equal((await workouts()).length, 1)
    t.equal(await xp(), 110)
  }
})

t.test('a workout at the same time is not counted twice; one beside it is', async (t) => {
  const { attend, workouts, log } = attendee()
  await log(workout('2026-11-20T12:20:00Z', { durationMinutes: 30 }))
  await attend()
  t.equal((await workouts()).length, 1)
  const other = attendee()
  at('2026-11-20T14:00:00Z')
  await other.log(
    workout('2026-11-20T12:30:00Z', { durationMinutes: 30 }),
    workout('2026-11-20T10:30:00Z', { durationMinutes: 30 })
  )
  await other.attend()
  t.equal((await other.workouts()).length, 3)
})
