import t from 'tap'
import { testApp } from '../test/app.ts'

const { newUser } = await testApp(t)

const food = (at: string, index: number) => ({
  clientId: `food ${at} ${index}`,
  type: 'FOOD',
  at,
  data: { name: 'Rice', calories: 200 }
})

/** The CPU time of writing these logs. */
async function measureMs (user: ReturnType<typeof newUser>, logs: object[]) {
  const before = process.cpuUsage()
  t.equal((await user.log(...logs)).filter(({ status }) => status === 'created').length, logs.length)
  return process.cpuUsage(before).user / 1_000
}

t.test('logs of days that are years apart keep nobody waiting', async (t) => {
  const day = (index: number) => new Date(Date.parse('2026-11-20T05:00:00Z') - index * 3 * 86_400_000).toISOString()
  const ms = await measureMs(
    newUser({ now: '2026-11-21T00:00:00Z', zone: 'Etc/UTC' }),
    Array.from({ length: 1_000 }, (_, index) => food(day(index), index))
  )
  t.ok(ms < 1_000, `they take ${Math.round(ms)} ms`)
})

t.test('logs of hundreds of time zones around a day without one keep nobody waiting', async (t) => {
  const offsets = Array.from(
    { length: 500 },
    (_, minute) => `+${new Date(minute * 60_000).toISOString().slice(11, 16)}`
  )
  const logs = ['2026-11-17', '2026-11-19'].flatMap((day) =>
    offsets.map((offset, index) => food(`${day}T12:00:00${offset}`, index))
  )
  const ms = await measureMs(newUser({ now: '2026-11-21T00:00:00Z', zone: 'Etc/UTC' }), logs)
  t.ok(ms < 600, `they take ${Math.round(ms)} ms`)
})
