import { sql, type Kysely } from 'kysely'
import t from 'tap'
import { connect } from '@tandem/database-kit'
import { testSchema } from '@tandem/database-kit/testing'
import { cacheJsonQuery } from './cached-query.ts'

interface Tables {
  things: { id: number, name: string, made_at: Date }
}

const url = await testSchema(t, async () => {})
const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
t.teardown(() => db.destroy())
await sql`create table things (id integer, name text, made_at timestamptz default '2026-01-02T03:04:05.678Z')`
  .execute(db)
await sql`insert into things values (1, 'a'), (2, 'b'), (3, 'b')`.execute(db)

let builds = 0
const read = cacheJsonQuery((
  db: Kysely<Tables>,
  { name, after }: { name?: string | undefined, after?: number | undefined },
  limit: number
) => {
  builds++
  return db.selectFrom('things').selectAll()
    .$if(name !== undefined, (things) => things.where('name', '=', name!))
    .$if(after !== undefined, (things) => things.where('id', '>', after!))
    .where('id', '<>', 100)
    .orderBy('id', 'desc')
    .limit(limit)
})
const ids = async (values: { name?: string | undefined, after?: number | undefined }, limit = 9) =>
  (await read(db, values, limit)).map(({ id }) => id)

t.test('a query gets the values of each call and is built once for each set of values', async (t) => {
  t.same(await ids({ name: 'b' }), [3, 2])
  t.same(await ids({ name: 'a' }), [1])
  t.equal(builds, 1)
  t.same(await ids({ name: undefined }), [3, 2, 1])
  t.same(await ids({}), [3, 2, 1])
  t.equal(builds, 2)
  t.same(await ids({ name: 'b', after: 2 }), [3])
  t.same(await ids({ name: 'b', after: 1 }), [3, 2])
  t.same(await ids({ after: 2, name: 'b' }), [3], 'in any order of the values')
  t.same(await ids({ name: 'b' }, 1), [3], 'each limit has its own')
  t.same(await ids({ name: 'x' }), [])
})

t.test('a value that looks like a placeholder is a value', async (t) => {
  t.same(await ids({ name: 'placeholder of after', after: 1 }), [])
  t.same(await ids({ name: "'; drop table things; --" }), [])
})

t.test('a row is as JSON has it: a time is text', async (t) => {
  t.same(await read(db, { name: 'a' }, 1), [{ id: 1, name: 'a', made_at: '2026-01-02T03:04:05.678+00:00' }])
})
