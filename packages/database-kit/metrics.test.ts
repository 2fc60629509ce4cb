import { sql } from 'kysely'
import pg from 'pg'
import { register } from 'prom-client'
import t from 'tap'
import { createQueryGauge, type QueryGaugeSource } from './index.ts'
import { pools } from './metrics.ts'
import { testDatabase } from './testing.ts'

const folder = import.meta.dirname
const read = async (name: string) => (await register.getSingleMetric(name)!.get()).values.map(({ value }) => value)

// Those that other tests of this process have never used, which Kysely does not close.
pools.clear()

t.test('a copy that is made for a new standby does not count as one', async (t) => {
  await testDatabase(t, folder)
  const url = new URL(process.env['TEST_DATABASE_URL'] ?? '')
  url.search = '?replication=true&application_name=pg_basebackup'
  const copy = new pg.Client(url.href)
  await copy.connect()
  t.teardown(() => copy.end())
  t.strictSame(await read('postgres_standbys'), [0])
})

t.test('a gauge whose query fails cannot be read, so that /metrics names it', async (t) => {
  const { db } = await testDatabase<object>(t, folder)
  let table = 'missing'
  const sources = new Set<QueryGaugeSource<object>>([{ service: 'any', db }])
  createQueryGauge({
    name: 'rows_of_any',
    help: 'Rows',
    sources,
    query: async (db) => (await sql<{ value: number }>`select 1 as value from ${sql.table(table)}`.execute(db)).rows[0]
  })
  t.teardown(() => register.removeSingleMetric('rows_of_any'))
  await t.rejects(read('rows_of_any'), /missing/)
  table = 'pg_database'
  t.strictSame(await read('rows_of_any'), [1])
})
