import { sql } from 'kysely'
import { createQueryGauge, type QueryGaugeSource } from '@tandem/database-kit'
import { Gauge } from 'prom-client'
import type { Db, Tables } from './tables.ts'

/** The database that the gauges read, once there is one. */
export const metricSources = new Set<QueryGaugeSource<Tables>>()

interface People {
  accounts: number
  registered: number
  active: number
}

// Counting a million accounts takes a tenth of a second, and nobody watches these by the second.
const CACHE_MS = 5 * 60_000
let counted: { at: number, people: Promise<People> } | undefined

async function countPeople (db: Db) {
  if (!counted || Date.now() - counted.at > CACHE_MS) {
    // Without the inner select, Postgres calls uuidv7 for each row.
    const people = sql<People>`
      select (select count(*) from accounts where expired_at is null) as accounts,
        (select count(*) from accounts where id > (select uuidv7(interval '-1 day'))) as registered,
        (select count(distinct account_id) from sessions
          where ended_at is null and last_used_at > now() - interval '1 day') as active`
      .execute(db).then(({ rows }) => rows[0]!)
    counted = { at: Date.now(), people }
    // The next scrape asks again.
    people.catch(() => counted = undefined)
  }
  return await counted.people
}

function createPeopleGauge (name: string, help: string, valueOf: (people: People) => number) {
  createQueryGauge({
    name,
    help,
    sources: metricSources,
    query: async (db) => ({ value: valueOf(await countPeople(db)) })
  })
}
createPeopleGauge('identity_accounts', 'Accounts whose address has not expired', ({ accounts }) => accounts)
createPeopleGauge('identity_registrations_last_day', 'Accounts of the last 24 hours', ({ registered }) => registered)
createPeopleGauge(
  'identity_active_last_day',
  'Accounts with a session that was refreshed in the last 24 hours',
  ({ active }) => active
)

createQueryGauge({
  name: 'account_deletion_oldest_seconds',
  help: 'How long ago the oldest deletion was requested that has not ended; those on hold do not count',
  sources: metricSources,
  query: readOldestDeletion
})

export async function readOldestDeletion (db: Db) {
  return await db.selectFrom('erasures').where('status', 'in', ['SCHEDULED', 'RUNNING'])
    .select(secondsSince('requested_at')).executeTakeFirstOrThrow()
}

createQueryGauge({
  name: 'identity_unacknowledged_purchase_oldest_seconds',
  help: 'How long ago the oldest purchase was sold that Google has not been told of; it refunds them after three days',
  sources: metricSources,
  query: async (db) =>
    await db.selectFrom('purchases').where('needs_acknowledgement', '=', true).where('account_id', 'is not', null)
      .select(secondsSince('bought_at')).executeTakeFirst()
})

createQueryGauge({
  name: 'identity_store_notification_oldest_seconds',
  help: 'How long the oldest notification has waited for its store to answer',
  sources: metricSources,
  query: async (db) =>
    await db.selectFrom('store_notifications').where('done_at', 'is', null)
      .select(secondsSince('received_at')).executeTakeFirst()
})

/** How long ago the earliest time in a column was; 0 without any. */
function secondsSince (column: string) {
  return sql<number>`coalesce(extract(epoch from now() - min(${sql.ref(column)})), 0)::float8`.as('value')
}

new Gauge({
  name: 'identity_purchases',
  help: 'Purchases that accounts have, by what the store says; TRIAL is an active one that is free',
  labelNames: ['state'] as const,
  async collect () {
    this.reset()
    for (const { db } of metricSources) {
      const { rows } = await sql<{ state: string, count: number }>`
        select case when is_trial and state = 'ACTIVE' then 'TRIAL' else state end as state, count(*) as count
        from purchases where account_id is not null and not is_replaced and state not in ('EXPIRED', 'REVOKED')
          and (state not in ('ACTIVE', 'GRACE') or greatest(period_end, grace_end) > now() - interval '1 day')
        group by 1`.execute(db)
      for (const state of ['ACTIVE', 'TRIAL', 'GRACE', 'HOLD', 'PAUSED', 'PENDING']) this.set({ state }, 0)
      for (const { state, count } of rows) this.set({ state }, count)
    }
  }
})
