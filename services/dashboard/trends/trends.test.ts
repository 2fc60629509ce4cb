import t from 'tap'
import { measured, phone, sleep, testApp, watch, water, weight } from '../test/app.ts'

const { newUser } = await testApp(t)

type User = ReturnType<typeof newUser>
const trend = async ({ read }: Pick<User, 'read'>, metric: string, range = '7d') =>
  (await read(`/dashboard/trends?metric=${metric}&range=${range}`)).points as { date: string, value: number | null }[]

t.test('a metric has a point for each day, null without an entry', async (t) => {
  const user = newUser()
  await user.log(
    measured('STEPS', watch, ['2026-11-18T01:00:00Z', '2026-11-18T02:00:00Z'], { count: 900 }),
    measured('STEPS', phone, ['2026-11-18T01:00:00Z', '2026-11-18T02:00:00Z'], { count: 1_000 }),
    weight('2026-11-19T01:00:00Z', 71),
    weight('2026-11-19T03:00:00Z', 70.5),
    water('2026-11-20T01:00:00Z', 250),
    sleep('2026-11-20T02:00:00Z', { minutes: 400 })
  )
  const days = ['14', '15', '16', '17', '18', '19', '20'].map((day) => `2026-11-${day}`)
  const only = (day: string, value: number) => days.map((date) => ({ date, value: date.endsWith(day) ? value : null }))
  t.same(await trend(user, 'steps'), only('18', 900))
  t.same(await trend(user, 'weight'), only('19', 70.5))
  t.same(await trend(user, 'water'), only('20', 250))
  t.same(await trend(user, 'sleep'), only('20', 400))
  t.equal((await trend(user, 'workouts', '30d')).length, 30)
  t.same(await trend(newUser(), 'bodyFat'), days.map((date) => ({ date, value: null })))
})

t.test('a year has a point for each week, the average of its days', async (t) => {
  const user = newUser()
  await user.log(
    weight('2026-11-16T01:00:00Z', 70),
    weight('2026-11-18T01:00:00Z', 71),
    weight('2026-11-15T01:00:00Z', 80)
  )
  const points = await trend(user, 'weight', '1y')
  t.equal(points.length, 53)
  t.same(points.slice(-2), [{ date: '2026-11-09', value: 80 }, { date: '2026-11-16', value: 70.5 }])
})

t.test('an unknown metric or range is refused', async (t) => {
  const user = newUser()
  for (const query of ['metric=mood&range=7d', 'metric=steps&range=2d', 'metric=steps', 'range=7d', '']) {
    t.match((await user.send('GET', `/dashboard/trends?${query}`)).json(), { code: 'VALIDATION_ERROR' })
  }
})
