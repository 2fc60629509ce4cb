import type { Generated } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { connect } from './connect.ts'
import { useDailyQuota } from './daily-quota.ts'
import { testSchema } from './testing.ts'

interface Tables {
  uploads_per_day: { account_id: string, day: string, uploads_count: Generated<number> }
}

t.test('parallel requests use a quota exactly, for each account and each day', async (t) => {
  const url = await testSchema(t, async (url) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(
      `create table uploads_per_day (account_id uuid, day date, uploads_count integer not null, primary key (account_id, day))`
    )
    await client.end()
  })
  const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
  t.teardown(() => db.destroy())

  const accountId = crypto.randomUUID()
  const use = async (overrides: { accountId?: string, day?: string, limit?: number, amount?: number } = {}) =>
    await db.transaction().execute(async (trx) =>
      await useDailyQuota(trx, {
        table: 'uploads_per_day',
        column: 'uploads_count',
        accountId,
        day: '2026-01-31',
        limit: 3,
        ...overrides
      })
    )

  const results = await Promise.all(Array.from({ length: 8 }, async () => await use()))
  t.same(results.filter((used) => used !== undefined).sort((one, other) => one - other), [1, 2, 3])
  t.equal(await use({ day: '2026-02-01' }), 1)
  t.equal(await use({ accountId: crypto.randomUUID() }), 1)
  t.equal(await use({ limit: 5 }), 4, 'a higher limit continues the count')
  t.equal(await use({ limit: 6, amount: 3 }), undefined, 'all or none')
  t.equal(await use({ limit: 6, amount: 2 }), 6)
  t.equal(await use({ accountId: crypto.randomUUID(), limit: 0 }), undefined)
})
