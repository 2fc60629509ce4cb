import t from 'tap'
import { lift, sleep, testApp, workout } from '../test/app.ts'

const { newUser } = await testApp(t)

const statsOf = async ({ read }: Pick<ReturnType<typeof newUser>, 'read'>) => (await read('/dashboard/home')).stats
const withLength = (at: string, durationMinutes: number, clientId: string, kg = 80) => {
  const item = lift(at, 'Squat', kg, { clientId })
  return { ...item, data: { ...item.data, durationMinutes } }
}

t.test('a workout that the watch and the phone log counts once: the longer one', async (t) => {
  const user = newUser()
  const [watch, phone] = await user.log(
    withLength('2026-11-20T01:00:00Z', 58, 'watch'),
    withLength('2026-11-20T01:03:00Z', 45, 'phone', 90)
  )
  t.match(await statsOf(user), { totalWorkouts: 1, avgWorkoutDuration: 58, totalXp: 50 + 58 + 25, totalPRs: 1 })
  t.match((await user.read('/records')).records, [{ weightKg: 80 }])
  const { logs } = await user.read('/logs')
  t.match(logs.map(({ clientId, counts }: { clientId: string, counts: boolean }) => [clientId, counts]), [
    ['phone', false],
    ['watch', true]
  ])

  await user.log(withLength('2026-11-20T01:03:00Z', 70, 'phone', 90))
  t.match(
    await statsOf(user),
    { totalWorkouts: 1, avgWorkoutDuration: 70, totalXp: 50 + 60 + 25, totalPRs: 1 },
    'edited'
  )
  t.match((await user.read('/records')).records, [{ weightKg: 90 }])
  await user.log(withLength('2026-11-20T03:00:00Z', 70, 'phone', 90))
  t.match(await statsOf(user), { totalWorkouts: 2, totalXp: 50 + 58 + 25 + 50 + 60 + 25, totalPRs: 2 }, 'moved away')
  await user.log(withLength('2026-11-20T01:03:00Z', 70, 'phone', 90))
  await user.send('DELETE', `/logs/${phone?.id}`)
  t.match(await statsOf(user), { totalWorkouts: 1, avgWorkoutDuration: 58, totalXp: 50 + 58 + 25, totalPRs: 1 })
  t.match((await user.read('/records')).records, [{ weightKg: 80 }], 'of the one that is left')
  await user.send('DELETE', `/logs/${watch?.id}`)
  t.match(await statsOf(user), { totalWorkouts: 0, totalXp: 0, totalPRs: 0 })
})

t.test('of equal workouts the first counts, and a workout that begins as another ends counts too', async (t) => {
  const user = newUser()
  await user.log(workout('2026-11-20T01:00:00Z', {}, { clientId: 'a' }), workout('2026-11-20T01:10:00Z'))
  t.match(await statsOf(user), { totalWorkouts: 1 })
  await user.log(workout('2026-11-20T00:31:00Z'), workout('2026-11-20T01:29:00Z'))
  t.match(await statsOf(user), { totalWorkouts: 3 })
})

t.test('a sleep over midnight that two devices log is one, on the day of the longer one', async (t) => {
  const user = newUser({ now: '2026-11-20T15:00:00Z', zone: 'Etc/UTC' })
  await user.log(
    sleep('2026-11-19T23:50:00Z', { minutes: 120, quality: 2 }),
    sleep('2026-11-20T06:00:00Z', { minutes: 500, quality: 4 })
  )
  const { metrics } = await user.read('/dashboard/health-score')
  t.match(metrics.sleep, { avgDuration: 500, avgQuality: 4, daysTracked: 1 })
  t.match(await statsOf(user), { totalXp: 10, streak: 2 })
})
