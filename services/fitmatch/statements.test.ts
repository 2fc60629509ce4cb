import { sql } from 'kysely'
import t from 'tap'
import { findCandidates } from './activities/invitations.ts'
import { listActivities, listNearby, listShared, listUpcoming } from './activities/queries.ts'
import { discover, readProfileView } from './discover/queries.ts'
import { readCaller } from './people/queries.ts'
import type { Trx } from './tables.ts'
import { plan } from './test/activities.ts'
import { createFacts, testApp } from './test/app.ts'

// Postgres plans the text of a statement once for each connection, and keeps the plan. A text with values of a person
// in it would be planned, and kept, for everybody.

t.test('people in different places cause the same statements', async (t) => {
  const { db, member } = await testApp(t)
  const ana = await member('Ana', createFacts('Ana'))
  const ben = await member('Ben', createFacts('Ben', { latitude: -6.25, longitude: 106.91, birthDate: '1990-01-02' }))
  await db.connection().execute(async (connection) => {
    const counts: (number | undefined)[] = []
    for (const [{ id }, other] of [[ana, ben], [ben, ana]] as const) {
      const me = await readCaller(connection, id)
      const now = new Date()
      const page = { limit: 10, cursor: undefined, now }
      await listUpcoming(connection, id, now)
      await listActivities(connection, me, { ...page, filter: 'upcoming' })
      await listNearby({ db: connection, minAge: 18 }, me, {
        ...page,
        sport: undefined,
        from: undefined,
        to: undefined
      })
      await listShared(connection, me, other.id, now)
      t.match(await readProfileView({ db: connection, minAge: 18 }, me, other.profileId), { id: other.profileId })
      t.equal((await discover(connection, me, { limit: 10, excluded: [], minAge: 18 })).total, 1)
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from pg_prepared_statements`.execute(connection)
      counts.push(rows[0]?.count)
    }
    t.ok((counts[0] ?? 0) >= 7, `${counts[0]} statements`)
    t.equal(counts[1], counts[0])
  })
})

t.test('plans and searches read no more of the people and activities elsewhere, however many there are', async (t) => {
  const { db, deps, member, post, createMatch } = await testApp(t)
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await createMatch(ana, ben)
  t.match(await post(ana.id, '/activities', plan({ visibility: 'OPEN' })), { status: 201 })
  await sql`insert into members (account_id) select gen_random_uuid() from generate_series(1, 2000)`.execute(db)
  await sql`insert into activities (host_id, title, sport, date, start_time, end_time, timezone, starts_at, ends_at,
      tzdata, latitude, longitude, visibility, capacity)
    select account_id, 'Run', 'running', current_date + 2, '18:00', '19:00', 'UTC', now() + interval '2 days',
      now() + interval '3 days', 'z', 4000, 1000, 'OPEN', 5 from members where account_id not in (${ana.id}, ${ben.id})`
    .execute(db)
  await sql`analyze members, activities`.execute(db)
  const readSoFar = async (trx: Trx, table: string) => {
    const { rows } = await sql<{ count: number }>`select (seq_tup_read + idx_tup_fetch)::int as count
      from pg_stat_xact_user_tables where schemaname = current_schema() and relname = ${table}`.execute(trx)
    return rows[0]!.count
  }
  const countRead = async (table: string, work: (trx: Trx) => Promise<unknown>) =>
    await db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx)
      const before = await readSoFar(trx, table)
      await work(trx)
      return await readSoFar(trx, table) - before
    })
  const me = await readCaller(db, ben.id)
  for (const named of [{ userIds: [ben.id] }, { profileIds: [ben.profileId] }]) {
    const found = async (trx: Trx) =>
      t.match(await findCandidates({ ...deps, db: trx }, ana.id, named), { accountIds: [ben.id] })
    t.ok(await countRead('members', found) < 20)
  }
  const page = { limit: 10, cursor: undefined, now: new Date(), sport: undefined, from: undefined, to: undefined }
  const nearby = async (trx: Trx) =>
    t.match(await listNearby({ db: trx, minAge: 18 }, me, page), { activities: { length: 1 } })
  t.ok(await countRead('activities', nearby) < 20)
  const reads: ((trx: Trx) => Promise<unknown>)[] = [
    async (trx) => await listUpcoming(trx, ben.id, page.now),
    async (trx) => await listShared(trx, me, ana.id, page.now),
    ...(['upcoming', 'invitations', 'past'] as const).map((filter) => async (trx: Trx) =>
      await listActivities(trx, me, { ...page, filter })
    )
  ]
  for (const read of reads) t.ok(await countRead('activities', read) < 20)
})
