import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp, sleep, workout } from '../test/app.ts'
import { handleWorkoutSnapshot } from './rpc.ts'

const { newUser, deps } = await testApp(t)
const now = '2026-11-20T05:00:00Z'
const snapshotFor = async (accountId: string, workoutId: string) =>
  await handleWorkoutSnapshot(deps).handle({ accountId, workoutId })

t.test('the snapshot of a workout has its figures', async (t) => {
  const { account, log } = newUser({ now })
  const [result] = await log(workout(now, {
    title: 'Push day',
    durationMinutes: 50,
    calories: 410,
    exercises: [
      { name: 'Bench press', sets: [{ reps: 5, weightKg: 80 }, { reps: 5, weightKg: 82.5 }] },
      { name: 'Pull-up', sets: [{ reps: 8, weightKg: -20 }, { reps: 8, weightKg: 0 }] }
    ]
  }))
  const id = result?.id ?? ''
  t.same(await snapshotFor(account, id), {
    id,
    name: 'Push day',
    startedAt: '2026-11-20T04:10:00.000Z',
    durationMinutes: 50,
    exercises: 2,
    volumeKg: 812.5,
    prs: 2,
    calories: 410
  })
  const [lighter] = await log(workout('2026-11-20T04:00:00Z', { durationMinutes: 10 }))
  t.match(await snapshotFor(account, lighter?.id ?? ''), {
    name: null,
    exercises: 0,
    volumeKg: 0,
    prs: 0,
    calories: null
  })
})

t.test('there is none of a log of somebody else, of another type, or of a deleted one', async (t) => {
  const { account, log, send } = newUser({ now })
  const [training, night] = await log(workout(now), sleep(now))
  const trainingId = training?.id ?? ''
  t.equal(await snapshotFor(newUser({ now }).account, trainingId), null)
  t.equal(await snapshotFor(account, night?.id ?? ''), null)
  t.equal(await snapshotFor(account, randomUUID()), null)
  await send('DELETE', `/logs/${trainingId}`)
  t.equal(await snapshotFor(account, trainingId), null)
})
