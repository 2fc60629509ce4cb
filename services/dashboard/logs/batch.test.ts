import { recordedEvents } from '@tandem/bus-kit/testing'
import t from 'tap'
import { food, lift, sleep, testApp, water, weight, workout } from '../test/app.ts'

const now = '2026-11-20T05:00:00Z'
const { newUser, db } = await testApp(t)
const minutesAgo = (minutes: number) => new Date(Date.parse(now) - minutes * 60_000).toISOString()

t.test('a batch returns a result per item in order, and a repeat changes nothing', async (t) => {
  const { account, log, send, read, publishedEvents } = newUser()
  const items = [workout(now), food(now), { ...water(now), data: { ml: 0 } }, sleep(now), weight(now)]
  const first = await log(...items)
  t.match(first.map(({ status }) => status), ['created', 'created', 'rejected', 'created', 'created'])
  t.same(first[2], { clientId: items[2]?.clientId, id: null, status: 'rejected', error: 'data.ml must be at least 1' })
  t.same(first.map(({ clientId }) => clientId), items.map(({ clientId }) => clientId))

  const events = await publishedEvents()
  const stats = await read('/dashboard/stats')
  const again = await log(...items)
  t.match(again.map(({ status }) => status), ['updated', 'updated', 'rejected', 'updated', 'updated'])
  t.same(again.map(({ id }) => id), first.map(({ id }) => id))
  t.same(await publishedEvents(), events)
  t.same((await read('/dashboard/stats')).stats, stats.stats)
  t.equal((await db.selectFrom('logs').where('account_id', '=', account).select('id').execute()).length, 4)
  t.match((await send('POST', '/logs/batch', { items: [] })).json(), { success: false, code: 'VALIDATION_ERROR' })
})

t.test('of several items with one clientId the last wins, and only the first is reported as created', async (t) => {
  const { log, read } = newUser()
  const results = await log(
    water(now, 100, { clientId: 'a' }),
    water(now, 300, { clientId: 'a' }),
    food(now, {}, { clientId: 'b' })
  )
  t.match(results.map(({ status }) => status), ['created', 'updated', 'created'])
  t.equal(results[0]?.id, results[1]?.id)
  t.equal((await read('/dashboard/home')).today.water.currentMl, 300)
})

t.test('concurrent batches of one account write each log once and publish each event once', async (t) => {
  const { log, publishedEvents, read } = newUser()
  const items = [
    lift(now, 'Squat', 80, { clientId: 'one' }),
    lift(minutesAgo(60), 'Bench', 60, { clientId: 'two' }),
    workout(minutesAgo(120), {}, { clientId: 'three' })
  ]
  const results = await Promise.all(Array.from({ length: 10 }, async () => await log(...items)))
  t.equal(new Set(results.flat().map(({ id }) => id)).size, 3)
  t.equal(results.flat().filter(({ status }) => status === 'created').length, 3)
  // 3 × (50 + 30) + 2 × 25 = 290: level 2 starts at 100, level 3 at 300.
  t.same(await publishedEvents(), [['record', 'Bench', 60, 5], ['record', 'Squat', 80, 5], ['level', 2], [
    'achievement',
    'FIRST_WORKOUT'
  ], ['achievement', 'FIRST_PR']])
  t.match((await read('/dashboard/stats')).stats, { totalWorkouts: 3, totalXp: 290, totalPRs: 2, level: 2 })
})

t.test('one batch publishes its 20 newest records at most, and counts them all', async (t) => {
  const { log, publishedEvents, read } = newUser()
  const exercises = Array.from(
    { length: 45 },
    (_, number) => ({ name: `Lift ${String(number).padStart(2, '0')}`, sets: [{ weightKg: 50, reps: 5 }] })
  )
  await log(workout(now, { exercises }))
  const records = (await publishedEvents()).filter(([what]) => what === 'record').map(([, exercise]) => exercise)
  t.same(records, exercises.slice(-20).map(({ name }) => name))
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 45 })
})

t.test('concurrent batches of different logs lose none', async (t) => {
  const { account, log, read } = newUser()
  await Promise.all(
    Array.from(
      { length: 12 },
      async (_, index) =>
        await log(
          workout(minutesAgo(40 * index), {}, { clientId: `w${index}` }),
          food(now, {}, { clientId: `f${index}` })
        )
    )
  )
  const { stats } = await read('/dashboard/stats')
  // 12 × (50 + 30) + 6 foods × 5
  t.match(stats, { totalWorkouts: 12, totalXp: 990, todayCalories: 6000 })
  t.match(
    await db.selectFrom('totals').where('account_id', '=', account).select(['workouts', 'food_entries']).execute(),
    [{ workouts: 12, food_entries: 12 }]
  )
})

t.test('a batch of 1,000 items is accepted, 1,001 are refused', async (t) => {
  const { send, log } = newUser()
  const items = (count: number) =>
    Array.from({ length: count }, (_, index) => water(now, 10, { clientId: `w${index}` }))
  t.equal((await log(...items(1_000))).length, 1_000)
  t.match((await send('POST', '/logs/batch', { items: items(1_001) })).json(), {
    code: 'VALIDATION_ERROR',
    error: 'items must have at most 1000 items'
  })
  t.match((await send('POST', '/logs/batch', {})).json(), { code: 'VALIDATION_ERROR' })
  t.match((await send('POST', '/logs/batch', { items: 'none' })).json(), { code: 'VALIDATION_ERROR' })
})

t.test('a batch of 200 workouts of 8 exercises with 5 sets is accepted', async (t) => {
  const { log } = newUser()
  const sets = Array.from({ length: 5 }, () => ({ reps: 10, weightKg: 82.5 }))
  const exercises = Array.from({ length: 8 }, (_, index) => ({ name: `Romanian deadlift ${index}`, sets }))
  const items = Array.from({ length: 200 }, () => workout(now, { exercises }))
  t.ok(JSON.stringify({ items }).length > 256 * 1024)
  t.ok((await log(...items)).every(({ status }) => status === 'created'))
})

t.test('a deleted log is not created again by a repeated upload', async (t) => {
  const { log, send, read, publishedEvents } = newUser()
  const item = workout(now)
  const [created] = await log(item)
  await send('DELETE', `/logs/${created?.id}`)
  const events = await publishedEvents()
  t.same(await log(item, food(now, {}, { clientId: 'other' })).then((results) => results[0]), {
    clientId: item.clientId,
    id: null,
    status: 'unchanged'
  })
  t.match((await read('/dashboard/stats')).stats, { totalWorkouts: 0, totalXp: 5 })
  t.same(await publishedEvents(), events)
})

t.test('the newest weight log is published when it changes', async (t) => {
  const { account, log, send, read } = newUser()
  const published = async () =>
    (await recordedEvents(db)).filter(({ type, subject }) =>
      type === 'dashboard.weight.logged.v1' && subject === account
    ).map(({ data }) => [(data as { kg: number }).kg, (data as { previousAt: string | null }).previousAt])
  const [first, second] = ['2026-11-18T01:00:00.000Z', '2026-11-19T01:00:00.000Z']
  await log(weight(first, 70), food(now))
  await log(weight('2026-11-17T01:00:00Z', 69))
  const [typo] = await log(weight(second, 171))
  await send('DELETE', `/logs/${typo?.id}`)
  t.same(await published(), [[70, null], [171, first], [70, second]])
  t.equal((await read('/dashboard/stats')).stats.currentWeight, 70)
})

t.test('the limits of an item are exact at both ends', async (t) => {
  const { log } = newUser()
  const sides: [object, object][] = [
    [workout(now, { durationMinutes: 1 }), workout(now, { durationMinutes: 0 })],
    [workout(now, { durationMinutes: 1440 }), workout(now, { durationMinutes: 1441 })],
    [workout(now, { title: 'x'.repeat(100) }), workout(now, { title: 'x'.repeat(101) })],
    [
      workout(now, { exercises: [{ name: 'Squat', sets: [{ reps: 1, weightKg: 0 }] }] }),
      workout(now, { exercises: [{ name: 'Squat', sets: [{ reps: 0, weightKg: 1 }] }] })
    ],
    [
      workout(now, { exercises: [{ name: 'x', sets: [{ reps: 1000, weightKg: 1000 }] }] }),
      workout(now, { exercises: [{ name: 'x', sets: [{ reps: 1, weightKg: 1001 }] }] })
    ],
    [workout(now, { exercises: [] }), workout(now, { exercises: [{ name: ' ', sets: [] }] })],
    [workout(now, { programDayId: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' }), workout(now, { programDayId: 'mine' })],
    [food(now, { calories: 0 }), food(now, { calories: -1 })],
    [food(now, { calories: 20000 }), food(now, { calories: 20001 })],
    [food(now, { protein: 0, carbs: 12.5, fat: null }), food(now, { protein: '5' })],
    [food(now, { name: 'x'.repeat(200) }), food(now, { name: 'x'.repeat(201) })],
    [water(now, 1), water(now, 0)],
    [water(now, 20000), water(now, 20001)],
    [sleep(now, { minutes: 1, quality: 1 }), sleep(now, { quality: 0 })],
    [sleep(now, { minutes: 1440, quality: 5 }), sleep(now, { quality: 6 })],
    [sleep(now, { quality: 3 }), sleep(now, { quality: 2.5 })],
    [weight(now, 20), weight(now, 19.9)],
    [weight(now, 500), weight(now, 500.1)],
    [water('2026-11-20T05:10:00Z'), water('2026-11-20T05:10:01Z')],
    [water('2000-01-01T00:00:00Z'), water('1999-12-31T23:59:59Z')],
    [water(now, 5, { clientId: 'x'.repeat(100) }), water(now, 5, { clientId: 'x'.repeat(101) })]
  ]
  const results = await log(...sides.flat())
  t.same(
    results.map(({ status }, index) => [index, status]),
    sides.flatMap((_, index) => [[2 * index, 'created'], [2 * index + 1, 'rejected']])
  )
})

t.test('each invalid item is rejected separately with its reason', async (t) => {
  const { account, send } = newUser()
  const wrong = [
    null,
    5,
    'log',
    [],
    {},
    { clientId: 'a' },
    { ...water(now), clientId: '  ' },
    { ...water(now), clientId: 7 },
    { ...water(now), type: 'RUNNING' },
    { ...water(now), at: '2026-02-30T00:00:00Z' },
    { ...water(now), at: '2026-11-20' },
    { ...water(now), at: 5 },
    { ...water(now), data: null },
    { ...water(now), data: [] },
    { ...water(now), data: {} },
    { ...water(now), data: { ml: '5' } },
    { clientId: 'p', type: '__proto__', at: now, data: {} }
  ]
  const response = await send('POST', '/logs/batch', { items: wrong })
  t.equal(response.statusCode, 200)
  const { results } = response.json().data
  t.equal(results.length, wrong.length)
  for (const result of results) t.match(result, { id: null, status: 'rejected' })
  const types = 'type must be one of WORKOUT, FOOD, WATER, SLEEP, WEIGHT, BODY_FAT, STEPS, DISTANCE, ACTIVE_ENERGY, ' +
    'HEART_RATE'
  const at = 'at must be a date and time such as 2026-01-31T08:00:00Z'
  t.same(results.map(({ error }: { error: string }) => error), [
    'clientId is required',
    'The item must be an object',
    'The item must be an object',
    'The item must be an object',
    'clientId is required',
    'type is required',
    'clientId must not be empty',
    'clientId must be a string',
    types,
    at,
    at,
    'at must be a string',
    'data is required',
    'data must be an object',
    'data.ml is required',
    'data.ml must be a number',
    types
  ])
  t.same(await db.selectFrom('logs').where('account_id', '=', account).select('id').execute(), [])
  t.same(await db.selectFrom('totals').where('account_id', '=', account).select('account_id').execute(), [])
})

t.test('the reason for a rejection is in the language of the request', async (t) => {
  const { send } = newUser()
  const items = [
    {},
    { ...water(now), data: { ml: 0 } },
    { ...water(now), clientId: 'a\0' },
    { ...water('2099-01-01T00:00:00Z') },
    { ...water('1999-01-01T00:00:00Z') }
  ]
  const response = await send('POST', '/logs/batch', { items }, { 'accept-language': 'id-ID,en;q=0.5' })
  t.same(response.json().data.results.map(({ error }: { error: string }) => error), [
    'clientId wajib diisi',
    'data.ml minimal 1',
    'Butir ini berisi karakter NUL',
    'at tidak boleh di masa depan',
    'at tidak boleh sebelum tahun 2000'
  ])
})

t.test('text that cannot be stored rejects its item, but not the other logs', async (t) => {
  const { log, send, read } = newUser()
  const named = (name: string) => food(now, { name }, { clientId: name.length.toString() })
  // The result of cutting a text inside an emoji.
  const items = [water(now), named('Nasi goreng 🍳'.slice(0, -1)), named('a\0b'), weight(now), {
    ...water(now),
    clientId: 'a\0'
  }, { ...water(now), clientId: 'b', note: '\0' }]
  const results = await log(...items)
  t.same(results.map(({ status }) => status), ['created', 'rejected', 'rejected', 'created', 'rejected', 'rejected'])
  t.match(results[1], {
    clientId: items[1]?.clientId,
    id: null,
    error: 'The item contains an invalid Unicode character'
  })
  t.match(results[2], { error: 'The item contains a NUL character' })
  t.equal(results[4]?.clientId, null, 'an id that cannot be stored is not returned')
  t.equal((await read('/logs')).logs.length, 2)

  const key = { 'idempotency-key': 'broken' }
  const first = await send('POST', '/logs/batch', { items }, key)
  t.equal(first.statusCode, 200)
  t.same((await send('POST', '/logs/batch', { items }, key)).json(), first.json())
  let deep: unknown = 'x'
  for (let depth = 0; depth < 40; depth++) deep = { deep }
  t.match((await send('POST', '/logs/batch', { items: [...items, deep] }, key)).json(), {
    code: 'VALIDATION_ERROR',
    error: 'The request is nested too deeply'
  })
})

t.test('unknown fields are dropped, texts are trimmed, minutes and millilitres are rounded', async (t) => {
  const { log, read } = newUser()
  await log({
    ...workout(now, {
      durationMinutes: 44.6,
      title: '  ',
      xp: 9000,
      exercises: [{ name: ' Squat ', note: 'x', sets: [{ reps: 5, weightKg: 82.5, rpe: 9 }] }]
    }),
    clientId: ' a ',
    accountId: 'me',
    day: '2020-01-01'
  })
  const { logs } = await read('/logs')
  t.match(logs, [{ clientId: 'a', day: '2026-11-20', timezone: 'Asia/Jakarta' }])
  t.same(logs[0].data, { durationMinutes: 45, exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg: 82.5 }] }] })
})

t.test('the same Idempotency-Key returns the first response, and is refused for a different batch', async (t) => {
  const { send } = newUser()
  const items = [water(now)]
  const key = { 'idempotency-key': 'k1' }
  const first = await send('POST', '/logs/batch', { items }, key)
  t.match(first.json().data.results, [{ status: 'created' }])
  t.same((await send('POST', '/logs/batch', { items }, key)).json(), first.json())
  t.match((await send('POST', '/logs/batch', { items: [water(now)] }, key)).json(), { code: 'IDEMPOTENCY_CONFLICT' })
  t.match((await send('POST', '/logs/batch', { items }, { 'idempotency-key': 'x'.repeat(256) })).json(), {
    code: 'VALIDATION_ERROR'
  })
})

t.test('logs of another user cannot be read, changed or deleted', async (t) => {
  const [owner, stranger] = [newUser(), newUser()]
  const [written] = await owner.log(water(now, 100, { clientId: 'mine' }))
  t.same((await stranger.read('/logs')).logs, [])
  t.match((await stranger.send('DELETE', `/logs/${written?.id}`)).json(), { success: false, code: 'NOT_FOUND' })
  t.match(await stranger.log(water(now, 900, { clientId: 'mine' })), [{ status: 'created' }])
  t.match((await owner.read('/logs')).logs, [{ id: written?.id, data: { ml: 100 } }])
})

t.test('of several items of one log in a batch only the last has earned something', async (t) => {
  const { log } = newUser({ now: '2026-11-20T05:00:00Z' })
  const at = '2026-11-20T01:00:00Z'
  t.match(await log(water(at, 100, { clientId: 'w' }), water(at, 200, { clientId: 'w' })), [
    { status: 'created', xp: 0 },
    { status: 'updated', xp: 2 }
  ])
  t.match(await log(water(at, 100, { clientId: 'gone' }), { clientId: 'gone', deleted: true }), [
    { id: null, status: 'unchanged', xp: undefined },
    { id: null, status: 'deleted' }
  ])
})
