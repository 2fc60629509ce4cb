import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { connect } from './connect.ts'
import { IdempotencyConflict, withIdempotencyKey, type IdempotencyTables } from './idempotency.ts'
import { testDatabase } from './testing.ts'

interface Tables extends IdempotencyTables {
  orders: { number: number }
}

/** Connects with a lock timeout of 300 ms. */
async function start (t: Test) {
  const { url } = await testDatabase<Tables>(t, import.meta.dirname)
  const failed: string[] = []
  const db = connect<Tables>(url, {
    log: { warn () {} },
    timeoutFactor: 0.3,
    onError: ({ code }) => failed.push(code ?? '')
  })
  t.teardown(() => db.destroy())
  await sql`create table orders (number integer generated always as identity)`.execute(db)
  const idempotencyKey = { accountId: crypto.randomUUID(), key: 'order-1', requestDigest: 'digest' }
  const countOrders = async () => (await db.selectFrom('orders').select('number').execute()).length
  return { db, idempotencyKey, failed, countOrders }
}

t.test('eight repeats at once get the first response, and leave the connections to others', async (t) => {
  const { db, idempotencyKey, countOrders } = await start(t)
  const held = Promise.withResolvers<void>()
  const order = async (requestDigest = 'digest') =>
    await withIdempotencyKey(db, { ...idempotencyKey, requestDigest }, async (trx) => {
      const { rows: [row] } = await sql<{ number: number }>`insert into orders default values returning number`
        .execute(trx)
      await held.promise
      return row
    })
  const repeats = Array.from({ length: 8 }, () => order())
  const other = order('another digest')
  const conflict = t.rejects(other, new IdempotencyConflict())
  // As many as the pool has connections besides the one of the first request.
  await Promise.all(Array.from({ length: 4 }, async () => await sql`select pg_sleep(0.4)`.execute(db)))
  held.resolve()
  t.same(await Promise.all(repeats), Array(8).fill({ number: 1 }))
  await conflict
  t.equal(await countOrders(), 1)
})

t.test('if the first fails, one of its repeats takes its place', async (t) => {
  const { db, idempotencyKey, countOrders } = await start(t)
  let calls = 0
  const order = async () =>
    await withIdempotencyKey(db, idempotencyKey, async (trx) => {
      if (++calls === 1) throw new Error('failed')
      await sql`insert into orders default values`.execute(trx)
      return { calls }
    })
  const [first, ...repeats] = await Promise.allSettled(Array.from({ length: 8 }, order))
  t.match(first, { status: 'rejected', reason: { message: 'failed' } })
  t.same(repeats, Array(7).fill({ status: 'fulfilled', value: { calls: 2 } }))
  t.equal(await countOrders(), 1)
})

t.test('a repeat waits for a request in another process, longer than for another lock', async (t) => {
  const { db, idempotencyKey: { accountId, key, requestDigest }, failed } = await start(t)
  const repeat = async () =>
    await withIdempotencyKey(db, { accountId, key, requestDigest }, async () => ({ number: 2 }))
  const whileFirstRuns = async (until: () => Promise<unknown>) =>
    await db.transaction().execute(async (trx) => {
      await trx.insertInto('idempotency_keys')
        .values({ account_id: accountId, key, request_digest: requestDigest, response: JSON.stringify({ number: 1 }) })
        .execute()
      await until()
    })

  let answer: Promise<unknown> | undefined
  await whileFirstRuns(async () => {
    answer = repeat()
    while (failed.length === 0) await sql`select 1`.execute(db)
  })
  t.same(failed, ['55P03'])
  t.same(await answer, { number: 1 })

  await db.deleteFrom('idempotency_keys').execute()
  await whileFirstRuns(async () => {
    await t.rejects(repeat(), { code: '55P03' }, 'but not for ever')
  })
  t.equal(failed.length, 4)
})
