import { sql } from 'kysely'
import t from 'tap'
import { connect } from './connect.ts'
import { deleteInChunks } from './delete-in-chunks.ts'
import { testSchema } from './testing.ts'

interface Tables {
  things: { id: number, age: number }
  deletions: { count: number }
}

t.test('old rows are deleted a thousand at a time, and those that are locked stay for the next call', async (t) => {
  const url = await testSchema(t, async () => {})
  const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
  t.teardown(() => db.destroy())
  await sql`create table things (id integer primary key, age integer not null)`.execute(db)
  await sql`create table deletions (count integer not null)`.execute(db)
  await sql`
    create function count_deletions () returns trigger language plpgsql as $$
      begin insert into deletions select count(*) from gone; return null; end $$`.execute(db)
  await sql`create trigger count_deletions after delete on things referencing old table as gone
    for each statement execute function count_deletions()`.execute(db)
  await sql`insert into things select id, id from generate_series(1, 3000) as id`.execute(db)
  const left = async () => (await db.selectFrom('things').select('id').orderBy('id').execute()).map(({ id }) => id)
  const deleteOld = async () => await deleteInChunks(db, 'things', sql`age > 500 order by age`)

  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('things').where('id', '=', 600).select('id').forUpdate().execute()
    await deleteOld()
  })
  t.equal((await left()).length, 501)
  t.ok((await left()).includes(600))
  const { rows } = await sql<{ count: number }>`select count from deletions`.execute(db)
  t.same(rows, [{ count: 1_000 }, { count: 1_000 }, { count: 499 }])

  await deleteOld()
  t.equal((await left()).at(-1), 500)
})
