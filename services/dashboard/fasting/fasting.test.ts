import { recordedEvents } from '@tandem/bus-kit/testing'
import { sql } from 'kysely'
import t from 'tap'
import { examplePerson, testApp } from '../test/app.ts'
import { publishReachedGoals } from './reached-goals.ts'

const { newUser, at, db, deps, setFakes } = await testApp(t)
const now = '2026-11-20T12:00:00.000Z'

/** A person of 30 years in Jakarta, seven hours ahead of UTC. */
function adult (options: { now?: string, zone?: string } = {}) {
  const user = newUser({ now, ...options })
  setFakes({ person: examplePerson(options.zone ?? 'Asia/Jakarta', { birthDate: '1996-05-01T00:00:00.000Z' }) })
  const fastEvents = async (wanted: string) =>
    (await recordedEvents(db)).filter(({ type, data }) =>
      type === wanted && (data as { accountId: string }).accountId === user.account
    ).map(({ data }) => data)
  return {
    ...user,
    start: async (body: object = { plan: '16:8' }) => (await user.send('POST', '/fasting', body)).json(),
    goals: async () => {
      await publishReachedGoals(db, deps.now)
      return await fastEvents('dashboard.fast.finished.v1')
    },
    corrections: async () => await fastEvents('dashboard.fast.corrected.v1')
  }
}

t.test('a fast starts, is shown as the current one, and ends', async (t) => {
  const { read, send, start } = adult()
  t.strictSame(await read('/fasting/current'), { fast: null })
  const { fast } = (await start()).data
  const running = {
    id: fast.id,
    plan: '16:8',
    goalHours: 16,
    startedAt: now,
    goalAt: '2026-11-21T04:00:00.000Z',
    endedAt: null,
    reachedGoal: false
  }
  t.strictSame(fast, running)
  t.strictSame(await read('/fasting/current'), { fast: running })

  at('2026-11-21T04:00:00Z')
  t.match(await read('/fasting/current'), { fast: { endedAt: null, reachedGoal: true } }, 'it runs on past its goal')
  at('2026-11-21T05:30:00Z')
  const ended = { ...running, endedAt: '2026-11-21T05:30:00.000Z', reachedGoal: true }
  t.strictSame((await send('POST', `/fasting/${fast.id}/end`, {})).json().data, { fast: ended })
  t.match((await send('POST', `/fasting/${fast.id}/end`, {})).json(), { success: false, code: 'FAST_ENDED' })
  t.strictSame(await read('/fasting/current'), { fast: null })
  t.strictSame(await read('/fasting'), { fasts: [ended], nextCursor: null })
})

t.test('a fast that was forgotten for years can be ended', async (t) => {
  const { send, start } = adult()
  const { fast } = (await start()).data
  at('2028-01-20T12:00:00Z')
  const { data } = (await send('POST', `/fasting/${fast.id}/end`, {})).json()
  t.match(data, { fast: { endedAt: '2026-11-23T12:00:00.000Z' } }, 'after the most hours that a fast has')
})

t.test('a fast adds nothing to logs, XP or streaks', async (t) => {
  const { read, send, start, publishedEvents } = adult()
  const before = await read('/dashboard/home')
  const { fast } = (await start()).data
  at('2026-11-20T14:00:00Z')
  await send('POST', `/fasting/${fast.id}/end`, {})
  t.strictSame((await read('/dashboard/home')).user, before.user)
  t.strictSame(await read('/logs'), { logs: [], nextCursor: null })
  t.strictSame(await publishedEvents(), [])
})

t.test('every plan has its goal; only CUSTOM takes another', async (t) => {
  const { start, send } = adult()
  for (const [plan, hours] of Object.entries({ '12:12': 12, '14:10': 14, '16:8': 16, '18:6': 18, '20:4': 20 })) {
    const { data } = await start({ plan })
    t.equal(data.fast.goalHours, hours)
    await send('DELETE', `/fasting/${data.fast.id}`)
  }
  t.match(await start({ plan: 'CUSTOM', goalHours: 36 }), { data: { fast: { goalHours: 36 } } })
  for (
    const body of [
      {},
      { plan: '16' },
      { plan: 'CUSTOM' },
      { plan: 'CUSTOM', goalHours: 0 },
      { plan: 'CUSTOM', goalHours: 37 },
      { plan: '16:8', goalHours: 15 },
      { plan: '16:8', startedAt: 'yesterday' },
      { plan: '16:8', startedAt: '2026-11-20T12:11:00Z' },
      { plan: '16:8', startedAt: '2026-11-17T11:59:00Z' },
      { plan: '16:8', startedAt: '2026-11-10T12:00:00Z', endedAt: '2026-11-10T12:00:00Z' },
      { plan: '16:8', startedAt: '2026-11-10T12:00:00Z', endedAt: '2026-11-13T12:00:01Z' },
      { plan: '16:8', startedAt: '2025-11-10T12:00:00Z', endedAt: '2025-11-11T12:00:00Z' }
    ]
  ) t.match(await start(body), { code: 'VALIDATION_ERROR' }, JSON.stringify(body))
  t.match(
    await start({ plan: '16:8', startedAt: '2026-11-10T12:00:00Z', endedAt: '2026-11-13T12:00:00Z' }),
    { data: { fast: { reachedGoal: true } } },
    '72 hours are allowed'
  )
})

t.test('one fast runs, and none overlaps another', async (t) => {
  const { start, send } = adult()
  const past = (from: string, to: string) => start({ plan: '16:8', startedAt: from, endedAt: to })
  t.match(await past('2026-11-19T00:00:00Z', '2026-11-19T12:00:00Z'), { success: true })
  t.match(await past('2026-11-19T11:00:00Z', '2026-11-19T13:00:00Z'), { code: 'FAST_OVERLAPS' })
  t.match(await past('2026-11-18T11:00:00Z', '2026-11-19T13:00:00Z'), { code: 'FAST_OVERLAPS' })
  t.match(await past('2026-11-19T01:00:00Z', '2026-11-19T02:00:00Z'), { code: 'FAST_OVERLAPS' })
  const next = await past('2026-11-19T12:00:00Z', '2026-11-19T13:00:00Z')
  t.match(next, { success: true }, 'one can start when another ends')
  t.match(await start({ plan: '16:8', startedAt: '2026-11-19T12:30:00Z' }), { code: 'FAST_OVERLAPS' })
  t.match(await start({ plan: '16:8', startedAt: '2026-11-20T06:00:00Z' }), { success: true })
  t.match(await start(), { code: 'FAST_RUNNING' })
  t.match(await past('2026-11-20T07:00:00Z', '2026-11-20T08:00:00Z'), { code: 'FAST_OVERLAPS' })
  const moved = await send('PUT', `/fasting/${next.data.fast.id}`, { startedAt: '2026-11-19T11:00:00Z' })
  t.match(moved.json(), { code: 'FAST_OVERLAPS' })
  t.equal(moved.statusCode, 409)
})

t.test('of many concurrent starts one wins, and concurrent past fasts never overlap', async (t) => {
  const { start, read } = adult()
  const started = await Promise.all(Array.from({ length: 20 }, () => start()))
  t.equal(started.filter(({ success }) => success).length, 1)
  t.ok(started.every(({ success, code }) => success || code === 'FAST_RUNNING'))

  const past = await Promise.all(Array.from({ length: 20 }, (_, hour) =>
    start({
      plan: '16:8',
      startedAt: new Date(Date.parse('2026-11-10T00:00:00Z') + hour * 3_600_000).toISOString(),
      endedAt: new Date(Date.parse('2026-11-10T02:30:00Z') + hour * 3_600_000).toISOString()
    })))
  t.ok(past.every(({ success, code }) => success || code === 'FAST_OVERLAPS'))
  const { fasts } = await read('/fasting?from=2026-11-10&to=2026-11-12') as {
    fasts: { startedAt: string, endedAt: string }[]
  }
  t.equal(fasts.length, past.filter(({ success }) => success).length)
  for (const [index, fast] of fasts.slice(1).entries()) t.ok(fast.endedAt <= fasts[index]!.startedAt)
})

t.test('a repeat with the same Idempotency-Key adds nothing', async (t) => {
  const { send, read } = adult()
  const repeat = async () => (await send('POST', '/fasting', { plan: '16:8' }, { 'idempotency-key': 'k' })).json()
  t.strictSame(await repeat(), await repeat())
  t.equal((await read('/fasting')).fasts.length, 1)
})

t.test('a reached goal is published once, by however many processes', async (t) => {
  const { account, start, goals } = adult()
  const { fast } = (await start()).data
  at('2026-11-21T03:59:59Z')
  t.strictSame(await goals(), [])
  at('2026-11-21T04:00:00Z')
  await Promise.all(Array.from({ length: 4 }, async () => await publishReachedGoals(db, deps.now)))
  t.strictSame(await goals(), [{ accountId: account, fastId: fast.id, goalHours: 16 }])
})

t.test('a fast that cannot be changed keeps no other from its goal, and reaches its own later', async (t) => {
  const broken = adult()
  const { id } = (await broken.start()).data.fast
  const others = []
  for (let turn = 0; turn < 49; turn++) {
    const other = adult()
    await other.start()
    others.push(other)
  }
  await sql`alter table fasts add constraint broken check (id <> ${sql.lit(id)} or goal_published_at is null)`.execute(
    db
  )
  at('2026-11-21T04:00:00Z')
  await t.rejects(publishReachedGoals(db, deps.now), { code: '23514' })
  await sql`alter table fasts drop constraint broken`.execute(db)
  const eventsOf = async ({ account }: { account: string }) =>
    (await recordedEvents(db)).filter(({ type, data }) =>
      type === 'dashboard.fast.finished.v1' && (data as { accountId: string }).accountId === account
    ).length
  t.equal(await eventsOf(broken), 0)
  for (const other of others) t.equal(await eventsOf(other), 1)
  t.equal((await broken.goals()).length, 1)
  for (const other of others) t.equal(await eventsOf(other), 1)
})

t.test('an edit moves a goal, also one that was published and is no longer reached', async (t) => {
  const { start, send, goals, corrections } = adult()
  const { fast } = (await start()).data
  t.match((await send('PUT', `/fasting/${fast.id}`, { plan: '18:6' })).json().data.fast, {
    goalHours: 18,
    goalAt: '2026-11-21T06:00:00.000Z'
  })
  at('2026-11-21T05:00:00Z')
  t.strictSame(await goals(), [])
  at('2026-11-21T06:00:00Z')
  t.match(await goals(), [{ goalHours: 18 }])
  t.same(await corrections(), [])
  await send('PUT', `/fasting/${fast.id}`, { plan: '20:4' })
  t.equal((await corrections()).length, 1)
  t.equal((await goals()).length, 1)
  at('2026-11-21T12:00:00Z')
  t.match(await goals(), [{ goalHours: 18 }, { goalHours: 20 }])
  await send('PUT', `/fasting/${fast.id}`, { plan: '16:8' })
  t.equal((await goals()).length, 2, 'a goal that is still reached is not published again')
  t.equal((await corrections()).length, 1)
})

t.test('a fast that ended before its published goal, or was deleted, has not reached it', async (t) => {
  for (
    const correct of [
      async ({ send }: ReturnType<typeof adult>, id: string) =>
        await send('POST', `/fasting/${id}/end`, { endedAt: '2026-11-21T03:00:00Z' }),
      async ({ send }: ReturnType<typeof adult>, id: string) =>
        await send('PUT', `/fasting/${id}`, { endedAt: '2026-11-21T03:00:00Z' }),
      async ({ send }: ReturnType<typeof adult>, id: string) => await send('DELETE', `/fasting/${id}`)
    ]
  ) {
    const user = adult()
    const { fast } = (await user.start()).data
    at('2026-11-21T04:00:00Z')
    t.equal((await user.goals()).length, 1)
    t.equal((await correct(user, fast.id)).statusCode, 200)
    t.same(await user.corrections(), [{ accountId: user.account, fastId: fast.id }])
    at('2026-11-22T04:00:00Z')
    t.equal((await user.goals()).length, 1)
  }
})

t.test('a goal in the past is not published, nor one of a fast that ended or was deleted', async (t) => {
  for (
    const end of [
      async (send: Send, id: string) => await send('POST', `/fasting/${id}/end`, {}),
      async (send: Send, id: string) => await send('DELETE', `/fasting/${id}`),
      async (send: Send, id: string) => await send('PUT', `/fasting/${id}`, { startedAt: '2026-11-19T12:00:00Z' })
    ]
  ) {
    const { start, send, goals } = adult()
    const { fast } = (await start()).data
    at('2026-11-20T14:00:00Z')
    t.equal((await end(send, fast.id)).statusCode, 200)
    at('2026-11-22T00:00:00Z')
    t.strictSame(await goals(), [])
  }
  const { start, goals } = adult()
  await start({ plan: '12:12', startedAt: '2026-11-19T12:00:00Z' })
  t.strictSame(await goals(), [])
})
type Send = ReturnType<typeof newUser>['send']

t.test('a fast that was forgotten for over 72 hours ends after 72, or earlier', async (t) => {
  for (
    const [sent, endedAt] of [
      [undefined, '2026-11-23T12:00:00.000Z'],
      ['2026-11-24T11:00:00Z', '2026-11-23T12:00:00.000Z'],
      ['2026-11-21T08:00:00Z', '2026-11-21T08:00:00.000Z']
    ]
  ) {
    const { start, send } = adult()
    const { fast } = (await start()).data
    at('2026-11-24T12:00:00Z')
    const ended = await send('POST', `/fasting/${fast.id}/end`, sent ? { endedAt: sent } : {})
    t.match(ended.json(), { data: { fast: { endedAt } } })
  }
})

t.test('the hours of a forgotten fast are the same before and after it is ended', async (t) => {
  const { start, send, read } = adult()
  const { fast } = (await start()).data
  at('2026-11-24T12:00:00Z')
  const { days } = await read('/fasting/stats')
  t.equal(days.reduce((sum: number, { hours }: { hours: number }) => sum + hours, 0), 72)
  await send('POST', `/fasting/${fast.id}/end`, {})
  t.same((await read('/fasting/stats')).days, days)
})

t.test('a new fast replaces one that was forgotten for over 72 hours', async (t) => {
  const { start, read } = adult()
  const { fast } = (await start()).data
  at('2026-11-23T12:00:00Z')
  t.match(await start(), { code: 'FAST_RUNNING' })
  at('2026-11-23T12:00:01Z')
  t.match(await start(), { data: { fast: { startedAt: '2026-11-23T12:00:01.000Z' } } })
  t.match((await read('/fasting')).fasts, [{ endedAt: null }, { id: fast.id, endedAt: '2026-11-23T12:00:00.000Z' }])
})

t.test('a goal that was reached by a wrong start is announced again at its time', async (t) => {
  const { start, send, goals } = adult()
  const { fast } = (await start()).data
  at('2026-11-21T04:00:00Z')
  t.equal((await goals()).length, 1)
  const corrected = await send('PUT', `/fasting/${fast.id}`, { startedAt: '2026-11-20T16:00:00Z' })
  t.match(corrected.json(), { data: { fast: { reachedGoal: false, goalAt: '2026-11-21T08:00:00.000Z' } } })
  t.equal((await goals()).length, 1)
  at('2026-11-21T08:00:00Z')
  t.equal((await goals()).length, 2)
})

t.test('fasts belong to their owner', async (t) => {
  const { start } = adult()
  const { fast } = (await start()).data
  const { read, send } = adult()
  t.strictSame(await read('/fasting'), { fasts: [], nextCursor: null })
  for (const [method, path] of [['PUT', ''], ['DELETE', ''], ['POST', '/end']] as const) {
    const response = await send(method, `/fasting/${fast.id}${path}`, method === 'DELETE' ? undefined : {})
    t.match(response.json(), { code: 'NOT_FOUND' }, `${method} ${path}`)
  }
})

t.test('the minimum age is the one of the profile', async (t) => {
  const { start, read } = adult()
  const person = (birthDate: string | null) => setFakes({ person: examplePerson('Asia/Jakarta', { birthDate }) })
  // At noon UTC it is the 20th in Jakarta.
  for (const birthDate of [null, '2008-11-21T00:00:00.000Z', '2009-11-20T00:00:00.000Z']) {
    person(birthDate)
    t.match(await start(), { success: false, code: 'AGE_RESTRICTED' }, String(birthDate))
  }
  setFakes({ person: 'unavailable' })
  t.match(await start(), { success: false, code: 'SERVICE_UNAVAILABLE' })
  t.strictSame(await read('/fasting/current'), { fast: null })
  person('2008-11-20T00:00:00.000Z')
  t.match(await start(), { success: true })
})

t.test('days of the list and the figures are those of the person', async (t) => {
  const { start, read } = adult()
  const past = (from: string, to: string) => start({ plan: '12:12', startedAt: from, endedAt: to })
  await past('2026-11-13T16:00:00Z', '2026-11-13T18:00:00Z') // the night to the 14th in Jakarta
  await past('2026-11-15T12:00:00Z', '2026-11-16T02:00:00Z') // 14 hours, five of them on the 15th
  await start({ plan: '16:8', startedAt: '2026-11-20T02:00:00Z' }) // runs since nine in the morning
  t.strictSame(await read('/fasting/stats'), {
    count: 2,
    reached: 1,
    averageHours: 8,
    longestHours: 14,
    days: [
      { date: '2026-11-14', hours: 1 },
      { date: '2026-11-15', hours: 5 },
      { date: '2026-11-16', hours: 9 },
      { date: '2026-11-17', hours: 0 },
      { date: '2026-11-18', hours: 0 },
      { date: '2026-11-19', hours: 0 },
      { date: '2026-11-20', hours: 10 }
    ]
  })
  const startsOf = async (query: string) =>
    ((await read(`/fasting?${query}`)).fasts as { startedAt: string }[]).map(({ startedAt }) => startedAt.slice(8, 10))
  t.strictSame(await startsOf('from=2026-11-13&to=2026-11-13'), ['13'])
  t.strictSame(await startsOf('from=2026-11-14&to=2026-11-15'), ['15'])
  t.strictSame(await startsOf('from=2026-11-15'), ['20', '15'])
  const first = await read('/fasting?limit=2')
  t.strictSame(await startsOf(`limit=2&cursor=${first.nextCursor}`), ['13'])
})

t.test('a day of 23 hours has at most 23', async (t) => {
  const { start, read } = adult({ now: '2026-03-30T12:00:00Z', zone: 'Europe/Berlin' })
  await start({ plan: '20:4', startedAt: '2026-03-28T12:00:00Z', endedAt: '2026-03-30T10:00:00Z' })
  const { days } = await read('/fasting/stats')
  t.strictSame(days.slice(-3), [
    { date: '2026-03-28', hours: 11 },
    { date: '2026-03-29', hours: 23 },
    { date: '2026-03-30', hours: 12 }
  ])
})
