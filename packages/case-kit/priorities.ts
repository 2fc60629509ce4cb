import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { CaseTables, Priority } from './tables.ts'

const JUDGED_BY = 5

/**
 * The priority of a report. It is the lowest for people whose last five decided reports were all dismissed, except for
 * reports about safety.
 * @param outcomes a query of the column `outcome`: those of the reporter's decided reports, newest first
 */
export async function priorityFor<Tables extends CaseTables> (
  db: Kysely<Tables>,
  priority: Priority,
  outcomes: RawBuilder<unknown>
): Promise<Priority> {
  if (priority === 3) return 3
  const { rows: [record] } = await sql<{ isUnreliable: boolean }>`
    select count(*) = ${JUDGED_BY} and coalesce(bool_and(outcome = 'NO_VIOLATION'), false) as "isUnreliable"
    from (select outcome from (${outcomes}) as decided limit ${sql.lit(JUDGED_BY)}) as latest`.execute(db)
  return record?.isUnreliable ? 1 : priority
}
