import { sql } from 'kysely'
import t from 'tap'
import { listActivities, listNearby, listShared, listUpcoming } from './activities/queries.ts'
import { discover, readProfileView } from './discover/queries.ts'
import { readCaller } from './people/queries.ts'
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
