import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { connect } from './connect.ts'
import { testSchema } from './testing.ts'
import { upsertVersioned } from './upsert-versioned.ts'

interface Tables {
  people: { account_id: string, name: string, tags: string[], changed_at: Date }
  members: { account_id: string, timezone: string | null, weight: number | null, person_version: number | null }
}

const url = await testSchema(t, async (url) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    create table people (account_id uuid primary key, name text not null, tags text[] not null, changed_at timestamptz not null);
    create table members (account_id uuid primary key, timezone text, weight int, person_version bigint)`)
  await client.end()
})
const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
t.teardown(() => db.destroy())

const write = async (accountId: string, name: string, changedAt: string | Date) =>
  await upsertVersioned(db, 'people', [{ account_id: accountId, name, tags: [name], changed_at: changedAt }], {
    key: 'account_id'
  })
const nameOf = async (accountId: string) =>
  (await db.selectFrom('people').select('name').where('account_id', '=', accountId).executeTakeFirst())?.name

t.test('the latest change wins in any order, to the microsecond', async (t) => {
  const ana = crypto.randomUUID()
  t.same(await write(ana, 'Second', '2026-01-31T08:00:00.000002Z'), [ana])
  t.same(await write(ana, 'First', '2026-01-31T08:00:00.000001Z'), [], 'a late event changes nothing')
  t.same(await write(ana, 'Repeated', '2026-01-31T08:00:00.000002Z'), [], 'nor does a repeated one')
  t.equal(await nameOf(ana), 'Second')
  t.same(await write(ana, 'Third', new Date('2026-01-31T08:00:00.001Z')), [ana])
  t.same(await db.selectFrom('people').select(['name', 'tags']).where('account_id', '=', ana).execute(), [
    { name: 'Third', tags: ['Third'] }
  ])
})

t.test('many rows are one statement, and those that were written are returned', async (t) => {
  const [ana, ben, cem] = ['a', 'b', 'c'].map((digit) => crypto.randomUUID().replace(/^./, digit)) as [
    string,
    string,
    string
  ]
  await write(ben, 'Ben', '2026-02-01T00:00:00Z')
  const row = (accountId: string) => ({
    account_id: accountId,
    name: 'New',
    tags: [],
    changed_at: '2026-01-01T00:00:00Z'
  })
  t.same(await upsertVersioned(db, 'people', [cem, ben, ana].map(row), { key: 'account_id' }), [ana, cem])
  t.equal(await nameOf(ben), 'Ben')
  t.same(await upsertVersioned(db, 'people', [], { key: 'account_id' }), [])
})

t.test('a row without a version is older than any, and keeps the columns that are not written', async (t) => {
  const ana = crypto.randomUUID()
  await db.insertInto('members').values({ account_id: ana, weight: 60 }).execute()
  const change = async (timezone: string, version: number) =>
    await upsertVersioned(db, 'members', [{ account_id: ana, timezone, person_version: version }], {
      key: 'account_id',
      version: 'person_version'
    })
  t.same(await change('Asia/Tokyo', 2), [ana])
  t.same(await change('Asia/Jakarta', 1), [])
  t.same(await db.selectFrom('members').selectAll().where('account_id', '=', ana).execute(), [
    { account_id: ana, timezone: 'Asia/Tokyo', weight: 60, person_version: 2 }
  ])
})

t.test('concurrent writes of the same rows in different orders do not deadlock', async (t) => {
  const ids = Array.from({ length: 300 }, () => crypto.randomUUID())
  for (let day = 1; day <= 5; day++) {
    const rows = ids.map((id) => ({ account_id: id, name: 'Crowd', tags: [], changed_at: `2026-01-0${day}T00:00:00Z` }))
    const orders = [rows, rows.toReversed(), rows, rows.toReversed()]
    const written = await Promise.all(
      orders.map(async (order) => await upsertVersioned(db, 'people', order, { key: 'account_id' }))
    )
    t.equal(written.flat().length, ids.length, 'each row is written once')
  }
  const { rows: [left] } = await sql<{ count: number }>`
    select count(*)::int from people where account_id = any(${ids}) and changed_at < '2026-01-05'`.execute(db)
  t.equal(left?.count, 0)
})
