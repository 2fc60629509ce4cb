import { sql } from 'kysely'
import t from 'tap'
import { connect } from './connect.ts'
import { lookupArray } from './lookup-arrays.ts'
import { testSchema } from './testing.ts'

const url = await testSchema(t, async () => {})
const db = connect<object>(url, { log: { warn () {} }, timeoutFactor: 10 })
t.teardown(() => db.destroy())

t.test('a lookup of a few rows is planned once, not at each call', async (t) => {
  await sql`create table things (id integer primary key, name text not null)`.execute(db)
  await sql`insert into things select id, 'n' || id from generate_series(1, 5000) id`.execute(db)
  await sql`analyze things`.execute(db)
  await db.connection().execute(async (connection) => {
    for (let call = 0; call < 20; call++) {
      const { rows } = await sql<{ name: string }>`
        select name from unnest(${lookupArray([7, 4_000], 'integer')}) as requested (id)
        join things on things.id = requested.id`.execute(connection)
      t.strictSame(rows.map(({ name }) => name).sort(), ['n4000', 'n7'])
    }
    // Postgres plans the first five calls, then compares.
    const { rows } = await sql`
      select custom_plans::integer as planned, generic_plans::integer as reused from pg_prepared_statements
      where statement like '%from unnest%'`.execute(connection)
    t.match(rows, [{ planned: 5, reused: 15 }])
  })
})
