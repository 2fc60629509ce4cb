import t from 'tap'
import { food, testApp, water } from '../test/app.ts'

const { newUser } = await testApp(t)

t.test('logs are listed newest first in pages, also if a log is deleted between two pages', async (t) => {
  const { log, read, send } = newUser({ now: '2026-11-20T05:00:00Z' })
  const hours = Array.from(
    { length: 25 },
    (_, hour) => new Date(Date.parse('2026-11-19T00:00:00Z') + hour * 3_600_000).toISOString()
  )
  await log(...hours.toSorted().map((at) => water(at)), water(hours[24] as string))
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: { logs: { id: string, at: string }[], nextCursor: string | null } = await read(
      `/logs?limit=7${cursor ? `&cursor=${cursor}` : ''}`
    )
    seen.push(...page.logs.map(({ at }) => at))
    cursor = page.nextCursor
    if (cursor) await send('DELETE', `/logs/${page.logs.at(-1)?.id}`)
  } while (cursor)
  t.same(seen, [...hours, hours[24] as string].toReversed())
})

t.test('a page has 20 logs by default, and 1 to 50 on request', async (t) => {
  const { log, read, send } = newUser({ now: '2026-11-20T05:00:00Z' })
  await log(...Array.from({ length: 51 }, () => water('2026-11-20T01:00:00Z')))
  t.equal((await read('/logs')).logs.length, 20)
  t.equal((await read('/logs?limit=1')).logs.length, 1)
  t.equal((await read('/logs?limit=50')).logs.length, 50)
  for (
    const query of [
      'limit=0',
      'limit=51',
      'type=RUNNING',
      'from=2026-02-30',
      'to=yesterday',
      'cursor=5',
      'cursor=x_y',
      'cursor=999999999999999999_019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'
    ]
  ) {
    t.match((await send('GET', `/logs?${query}`)).json(), { success: false, code: 'VALIDATION_ERROR' }, query)
  }
})

t.test('logs are filtered by type and by days, both included', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T16:00:00Z', zone: 'Pacific/Kiritimati' })
  // Noon of the days in Kiritimati (UTC+14) is 22:00 of the day before in UTC.
  await log(
    ...['16', '17', '18', '19'].flatMap((day) => [food(`2026-11-${day}T22:00:00Z`), water(`2026-11-${day}T22:00:00Z`)])
  )
  const days = async (query: string) =>
    (await read(`/logs?${query}`)).logs.map(({ day, type }: { day: string, type: string }) => `${day.slice(8)} ${type}`)
  t.same(await days('type=FOOD&from=2026-11-18&to=2026-11-19'), ['19 FOOD', '18 FOOD'])
  t.same((await days('from=2026-11-20')).length, 2)
  t.same((await days('to=2026-11-17')).length, 2)
  t.same(await days('from=2026-11-21'), [])
})
