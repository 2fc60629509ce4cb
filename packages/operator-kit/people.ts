import { sql, type Kysely } from 'kysely'
import { Counter } from 'prom-client'
import { RateLimited } from '@tandem/http-kit'
import type { PeopleTables } from './tables.ts'

const PEOPLE_PER_HOUR = 60

const limitReached = new Counter({
  name: 'operator_people_limit_total',
  help: 'Requests of operators for more people than they may look at in an hour'
})
limitReached.inc(0)

/**
 * Counts a person that an operator looks at: at most 60 different ones in an hour, in each service. It is one statement,
 * so requests at once cannot all be the last one.
 * @throws RateLimited
 */
export async function countPerson (db: Kysely<PeopleTables>, staffId: string, accountId: string) {
  const { rows } = await sql`
    insert into operator_reads as known (staff_id, hour, people)
    values (${staffId}, date_trunc('hour', now()), array[${accountId}::uuid])
    on conflict (staff_id, hour) do update set
      people = case when ${accountId}::uuid = any(known.people) then known.people
        else known.people || ${accountId}::uuid end
      where ${accountId}::uuid = any(known.people) or cardinality(known.people) < ${PEOPLE_PER_HOUR}
    returning staff_id`.execute(db)
  if (rows.length > 0) return
  limitReached.inc()
  throw new RateLimited(3_600)
}

/** Deletes the counts of past days. */
export const deleteOldReads = async (db: Kysely<PeopleTables>) =>
  await sql`delete from operator_reads where hour < now() - interval '1 day'`.execute(db)
