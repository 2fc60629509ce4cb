import { sql } from 'kysely'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { food, measured, phone, testApp, watch, water, workout } from '../test/app.ts'

const { newUser, db } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

type User = ReturnType<typeof newUser>
type Change = { id: string, type: string, deleted?: boolean, data?: object, counts?: boolean, parts?: string[] }

/** Everything after a cursor, in pages. */
async function sync ({ read }: Pick<User, 'read'>, cursor?: string, limit = 3) {
  const changes: Change[] = []
  for (let last = cursor;;) {
    const page: { changes: Change[], cursor: string } = await read(
      `/logs/sync?limit=${limit}${last === undefined ? '' : `&cursor=${last}`}`
    )
    changes.push(...page.changes)
    if (page.changes.length === 0) return { changes, cursor: page.cursor }
    last = page.cursor
  }
}

t.test('another device can send back a log that no client has named', async (t) => {
  const user = newUser()
  const run = measured('WORKOUT', watch, ['2026-11-20T01:00:00Z', '2026-11-20T02:00:00Z'], { title: 'Run' })
  const externalId = 'x'.repeat(200)
  await user.log({ ...run, externalId, clientId: undefined })
  const { changes: [change], cursor } = await sync(user)
  t.match(await user.log({ ...change, data: { ...change?.data, title: 'Long run' } }), [{ status: 'updated' }])
  t.match((await sync(user, cursor)).changes, [{ ...change, data: { title: 'Long run' } }])
  t.match(await user.log({ ...run, externalId, clientId: 'x'.repeat(101) }), [{ status: 'rejected' }])
})

t.test('another device gets every creation, edit and deletion once', async (t) => {
  const user = newUser()
  const first = await sync(user)
  t.same(first.changes, [])
  const [one, two, three] = await user.log(
    water(now, 100, { clientId: 'one' }),
    food(now, {}, { clientId: 'two' }),
    workout(now),
    water(now),
    water(now)
  )
  const second = await sync(user, first.cursor)
  t.equal(second.changes.length, 5)
  t.match(second.changes[0], { id: one?.id, clientId: 'one', type: 'WATER', data: { ml: 100 } })
  t.same((await sync(user, second.cursor)).changes, [])
  t.equal((await sync(user)).changes.length, 5, 'without a cursor everything comes again')

  await user.log(water(now, 200, { clientId: 'one' }))
  await user.send('DELETE', `/logs/${two?.id}`)
  await user.send('DELETE', `/logs/${three?.id}`)
  t.match((await sync(user, second.cursor)).changes, [
    { id: one?.id, data: { ml: 200 } },
    { id: two?.id, type: 'FOOD', deleted: true },
    { id: three?.id, type: 'WORKOUT', deleted: true }
  ])
  t.same((await sync(newUser())).changes, [], 'of nobody else')
  t.equal((await user.send('GET', '/logs/sync?cursor=abc')).statusCode, 400)
  t.equal((await user.send('GET', '/logs/sync?cursor=')).statusCode, 200, 'as other lists')
})

t.test('a page of long logs ends early, and the next one goes on', async (t) => {
  const user = newUser()
  const route = '?'.repeat(190_000)
  for (let hour = 0; hour < 5; hour++) {
    const items = [0, 12, 24, 36, 48].map((minute) =>
      workout(`2026-11-19T0${hour}:${String(minute).padStart(2, '0')}:00Z`, { durationMinutes: 1, route })
    )
    t.match(await user.log(...items), items.map(() => ({ status: 'created' })))
  }
  const first = await user.send('GET', '/logs/sync')
  t.ok(first.body.length < 3_000_000)
  t.ok(first.json().data.changes.length > 1)
  const { changes } = await sync(user, undefined, 500)
  t.equal(new Set(changes.map(({ id }) => id)).size, 25)
  t.equal(changes.length, 25)

  const listed: Change[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { logs: Change[], nextCursor: string | null } = await user.read(`/logs?limit=50${cursor}`)
    t.ok(JSON.stringify(page).length < 3_000_000)
    listed.push(...page.logs)
    cursor = page.nextCursor && `&cursor=${page.nextCursor}`
  }
  t.equal(new Set(listed.map(({ id }) => id)).size, 25)
  t.equal(listed.length, 25)
})

t.test('what is written while a page is read comes with the next one', async (t) => {
  const user = newUser()
  const [one, two] = await user.log(water(now, 100, { clientId: 'one' }), water(now, 100, { clientId: 'two' }))
  const { cursor } = await sync(user)
  let reading: ReturnType<typeof user.read> | undefined
  await db.transaction().execute(async (trx) => {
    await sql`lock table deleted_logs in access exclusive mode`.execute(trx)
    reading = user.read(`/logs/sync?cursor=${cursor}`)
    await until(async () =>
      (await sql`select from pg_locks where relation = 'deleted_logs'::regclass and not granted`.execute(db))
        .rows.length > 0
    )
    await trx.updateTable('logs').set({ revision: 90 }).where('id', '=', one!.id).execute()
    await trx.deleteFrom('logs').where('id', '=', two!.id).execute()
    await trx.insertInto('deleted_logs')
      .values({ account_id: user.account, client_id: 'two', log_id: two!.id, type: 'WATER', revision: 90 })
      .execute()
  })
  const page = await reading
  const { changes } = await sync(user, page.cursor)
  t.same(new Set([...page.changes, ...changes].map(({ id }) => id)), new Set([one!.id, two!.id]))
})

t.test('a log that comes back has the id that devices know, and a deleted one the name', async (t) => {
  const user = newUser()
  const item = (hour: number, more: object) => ({
    source: watch,
    externalId: 'a',
    modifiedAt: `2026-11-20T0${hour}:00:00Z`,
    ...more
  })
  const drunk = { type: 'WATER', clientId: 'mine', at: now, data: { ml: 100 } }
  const [one] = await user.log(item(1, drunk))
  const { cursor } = await sync(user)
  await user.log(item(2, { deleted: true }))
  const second = await sync(user, cursor)
  t.match(second.changes, [{ id: one!.id, clientId: 'mine', deleted: true }])
  t.match(await user.log(item(3, drunk)), [{ id: one!.id, status: 'created' }])
  const { changes } = await sync(user, second.cursor)
  t.match(changes, [{ id: one!.id, clientId: 'mine', data: { ml: 100 } }])
  t.notOk(changes[0]?.deleted)
})

t.test('what becomes a part of a session has changed', async (t) => {
  const user = newUser()
  const run = (source: typeof watch) =>
    measured('WORKOUT', source, ['2026-11-20T01:00:00Z', '2026-11-20T02:00:00Z'], {})
  const [ofPhone] = await user.log(run(phone))
  const { cursor } = await sync(user)
  const [ofWatch] = await user.log(run(watch))
  const { changes } = await sync(user, cursor)
  t.match(changes.find(({ id }) => id === ofPhone?.id), { counts: false, parts: { length: 0 } })
  t.match(changes.find(({ id }) => id === ofWatch?.id), { counts: true, parts: [ofWatch?.id, ofPhone?.id] })
})

t.test('a deletion can arrive before the log, and an older version after it', async (t) => {
  const user = newUser()
  const item = (modifiedAt: string, ml = 100) => ({
    type: 'WATER',
    source: watch,
    externalId: 'a',
    at: now,
    data: { ml },
    modifiedAt
  })
  const deleted = { source: watch, externalId: 'a', deleted: true, modifiedAt: '2026-11-20T02:00:00Z' }
  const drunk = async () => (await user.read('/dashboard/home')).today.water.currentMl
  t.match(await user.log(deleted), [{ id: null, status: 'deleted' }])
  t.match(await user.log(item('2026-11-20T01:00:00Z')), [{ id: null, status: 'unchanged' }])
  t.equal(await drunk(), 0)
  t.match(await user.log(item('2026-11-20T03:00:00Z', 300)), [{
    status: 'created',
    xp: 2,
    level: 1,
    records: { length: 0 }
  }])
  t.match(await user.log(deleted, item('2026-11-20T02:30:00Z')), [{ status: 'unchanged' }, { status: 'unchanged' }])
  t.equal(await drunk(), 300)
  t.match(await user.log({ ...deleted, modifiedAt: undefined }), [{ status: 'deleted' }])
  t.match(await user.log(item('2026-11-20T04:00:00Z')), [{ status: 'unchanged' }], 'a deletion without a time is final')
  t.equal(await drunk(), 0)
})

t.test('the deletion of a log that never arrived is no change for other devices, whose cursor goes on', async (t) => {
  const user = newUser()
  const { cursor } = await sync(user)
  await user.log({ clientId: 'never', deleted: true })
  const { changes, cursor: next } = await sync(user, cursor)
  t.strictSame(changes, [])
  const [one] = await user.log(water(now))
  t.match((await sync(user, next)).changes, [{ id: one?.id }])
})

t.test('the id in the source decides, whatever the client calls the log', async (t) => {
  const user = newUser()
  const item = (clientId: string, platform: string) => ({
    ...water(now, 100, { clientId }),
    source: { platform },
    externalId: 'x'
  })
  const [one] = await user.log(item('a', 'HEALTHKIT'))
  t.match(await user.log(item('b', 'HEALTHKIT')), [{ id: one?.id, clientId: 'b', status: 'updated', xp: 0 }])
  t.match(await user.log(item('b', 'HEALTH_CONNECT'), water(now, 100, { clientId: 'b' })), [
    { status: 'created' },
    { status: 'created' }
  ])
  const wrong = [
    { ...item('a', 'HEALTHKIT'), source: undefined },
    { ...item('a', 'HEALTHKIT'), source: { platform: 'X', kind: 'FRIDGE' } },
    { deleted: true },
    { ...item('a', 'X'), startAt: now, endAt: '2026-11-20T04:00:00Z' }
  ]
  t.match(await user.log(...wrong), wrong.map(() => ({ status: 'rejected' })))
})
