import { sql } from 'kysely'
import type { Trx } from '../schema.ts'

/** Two people in the one order that a pair has. Ids of lower case sort as text as Postgres sorts them. */
export const pairOf = (one: string, other: string) => one < other ? { low_id: one, high_id: other } : { low_id: other, high_id: one }

/**
 * Holds what is between two people until the end of the transaction: swipes, the match, blocks. Without it two who like each other at the
 * same instant would not see each other's swipe.
 */
export async function lockPair (trx: Trx, one: string, other: string) {
  const { low_id, high_id } = pairOf(one, other)
  await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.pair.' || ${low_id} || ${high_id}, 0))`.execute(trx)
}
