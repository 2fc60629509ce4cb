import { sql, type Expression } from 'kysely'
import type { Trx } from '../tables.ts'

/** Two people in the one order that a pair has. Ids of lower case sort as text as Postgres sorts them. */
export const pairOf = (one: string, other: string) => one < other ? { low_id: one, high_id: other } : { low_id: other, high_id: one }

/**
 * Holds what is between two people until the end of the transaction: swipes, the match, blocks. Without it two who like each other at the
 * same instant would not see each other's swipe. It is an expression, to be selected.
 */
export const pairLock = (one: Expression<unknown>, other: Expression<unknown>) =>
  sql`pg_advisory_xact_lock(hashtextextended(current_schema() || '.pair.' || least(${one}, ${other}) || greatest(${one}, ${other}), 0))`

export async function lockPair (trx: Trx, one: string, other: string) {
  await sql`select ${pairLock(sql`${one}::uuid`, sql`${other}::uuid`)}`.execute(trx)
}
