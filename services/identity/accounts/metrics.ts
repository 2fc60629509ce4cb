import { sql } from 'kysely'
import { Gauge } from 'prom-client'
import type { Db } from '../tables.ts'

/** The database of this process, once it serves. */
export const accountSource: { db?: Db } = {}

interface People {
  accounts: number
  registered: number
  active: number
}

// Counting a million accounts takes a tenth of a second, and nobody watches these by the second.
const CACHE_MS = 5 * 60_000
let counted: { at: number, people: Promise<People | undefined> } | undefined

async function countPeople (): Promise<People | undefined> {
  if (!accountSource.db) return undefined
  const { rows: [people] } = await sql<People>`
    select (select count(*) from accounts where expired_at is null)::int as accounts,
      (select count(*) from accounts where id > uuidv7(interval '-1 day'))::int as registered,
      (select count(distinct account_id) from sessions
        where ended_at is null and last_used_at > now() - interval '1 day')::int as active`.execute(accountSource.db)
  return people
}

function createPeopleGauge (name: string, help: string, valueOf: (people: People) => number) {
  new Gauge({
    name,
    help,
    async collect () {
      if (!counted || Date.now() - counted.at > CACHE_MS) {
        counted = { at: Date.now(), people: countPeople().catch(() => undefined) }
      }
      const people = await counted.people
      if (people) this.set(valueOf(people))
      // The next scrape asks again.
      else counted = undefined
    }
  })
}
createPeopleGauge('identity_accounts', 'Accounts whose address has not expired', ({ accounts }) => accounts)
createPeopleGauge('identity_registrations_last_day', 'Accounts of the last 24 hours', ({ registered }) => registered)
createPeopleGauge(
  'identity_active_last_day',
  'Accounts with a session that was refreshed in the last 24 hours',
  ({ active }) => active
)
