import { sql } from 'kysely'
import type { Trx } from './tables.ts'

export type Counted = 'posts' | 'comments' | 'stories' | 'poll_options' | 'polls'

/**
 * Lowers a counter by one for each time its row is in `ids`. The rows are locked in the order of their ids, after the
 * deleted rows: code that holds a post's row must never wait for a like.
 */
export async function lowerCounters (trx: Trx, table: Counted, counter: string, ids: string[]) {
  if (ids.length === 0) return
  const key = sql.ref(table === 'polls' ? 'post_id' : 'id')
  await sql`select from ${sql.table(table)} where ${key} = any(${ids}::uuid[]) order by ${key} for no key update`
    .execute(trx)
  await sql`
    update ${sql.table(table)} set ${sql.ref(counter)} = ${sql.ref(counter)} - deleted.times
    from (select id as counted_id, count(*)::int as times from unnest(${ids}::uuid[]) as id group by id) deleted
    where ${key} = deleted.counted_id`.execute(trx)
}
