import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { connect } from './connect.ts'
import { inSavepoints } from './savepoints.ts'
import { testSchema } from './testing.ts'

interface Tables {
  rows: { number: number }
}

const url = await testSchema(t, async (url) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table rows (number integer primary key check (number <> 13))')
  await client.end()
})
const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
t.teardown(() => db.destroy())
t.afterEach(async () => void await db.deleteFrom('rows').execute())

const insert = async (numbers: number[]) =>
  await db.transaction().execute(async (trx) =>
    await inSavepoints(trx, numbers, async (some) => {
      await trx.insertInto('rows').values(some.map((number) => ({ number }))).execute()
      if (some.includes(7)) throw new RangeError('seven')
      return some.length
    })
  )
const stored = async () =>
  (await db.selectFrom('rows').select('number').orderBy('number').execute()).map(({ number }) => number)

t.test('items without a fault are one call', async (t) => {
  t.same(await insert([1, 2, 3]), { results: [3], failures: [] })
  t.same(await stored(), [1, 2, 3])
  t.same(await insert([]), { results: [], failures: [] })
})

t.test('an item that Postgres or the code refuses undoes only its own changes', async (t) => {
  const { results, failures } = await insert([1, 13, 2, 7, 3])
  t.same(results, [1, 1, 1])
  t.match(failures, [{ item: 13, error: { code: '23514' } }, { item: 7, error: new RangeError('seven') }])
  t.same(await stored(), [1, 2, 3])
  t.match(await insert([13]), { results: [], failures: [{ item: 13 }] })
})

t.test('an error that is not the fault of an item ends the transaction', async (t) => {
  let calls = 0
  await t.rejects(
    db.transaction().execute(async (trx) =>
      await inSavepoints(trx, [1, 2], async (some) => {
        calls++
        await trx.insertInto('rows').values(some.map((number) => ({ number }))).execute()
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      })
    ),
    { code: '40P01' }
  )
  t.equal(calls, 1)
  t.same(await stored(), [])
})

/** Takes too long for the numbers in `slow`. Returns how often it was called as well. */
async function insertSlowly (numbers: number[], slow: number[]) {
  let calls = 0
  const outcome = await db.transaction().execute(async (trx) =>
    await inSavepoints(trx, numbers, async (some) => {
      calls++
      await trx.insertInto('rows').values(some.map((number) => ({ number }))).execute()
      if (!some.some((number) => slow.includes(number))) return
      await sql`set local statement_timeout = '20ms'`.execute(trx)
      await sql`select pg_sleep(60)`.execute(trx)
    })
  ).catch((error: unknown) => ({ error }))
  return { ...outcome, calls }
}

t.test('an item that takes too long alone undoes only its own changes', async (t) => {
  t.match(await insertSlowly([1, 2, 3], [2]), { failures: [{ item: 2, error: { code: '57014' } }] })
  t.same(await stored(), [1, 3])
  t.match(await insertSlowly([13, 7], [7]), { failures: [{ item: 13 }, { item: 7 }] }, 'Postgres is fast for another')
})

t.test('while Postgres is slow for everything, no item is at fault', async (t) => {
  const all = [1, 2, 3, 4, 5, 6, 7, 8]
  t.match(await insertSlowly(all, all), { error: { code: '57014' }, calls: 5 }, 'it stops early')
  t.match(await insertSlowly([1, 2], [1, 2]), { error: { code: '57014' }, calls: 3 })
  t.match(await insertSlowly([1], [1]), { error: { code: '57014' }, calls: 1 })
  t.same(await stored(), [])
})
