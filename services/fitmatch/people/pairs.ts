import { sql, type Expression } from 'kysely'
import type { Trx } from '../tables.ts'

/** Two account ids in ascending order. Lower-case UUIDs sort as text exactly as Postgres sorts them. */
export const pairOf = (one: string, other: string) =>
  one < other ? { low_id: one, high_id: other } : { low_id: other, high_id: one }

/** Both directions of the swipes between two people. */
export const isSwipeBetween = (one: string, other: string) =>
  sql<boolean>`((swiper_id = ${one} and target_id = ${other}) or (swiper_id = ${other} and target_id = ${one}))`

/**
 * Locks a pair of people (their swipes, match and blocks) until the end of the transaction. Without it, two people who
 * like each other at the same instant would not see each other's swipe. This is an expression; select it.
 */
export const pairLock = (one: Expression<unknown>, other: Expression<unknown>) =>
  sql`pg_advisory_xact_lock(
    hashtextextended(current_schema() || '.pair.' || least(${one}, ${other}) || greatest(${one}, ${other}), 0))`

export async function lockPair (trx: Trx, one: string, other: string) {
  await sql`select ${pairLock(sql`${one}::uuid`, sql`${other}::uuid`)}`.execute(trx)
}
