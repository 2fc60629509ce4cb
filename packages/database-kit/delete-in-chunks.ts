import { sql, type Kysely, type RawBuilder } from 'kysely'

/** How many rows `deleteChunk` deletes, unless there are fewer. */
export const DELETED_AT_ONCE = 1_000

/**
 * Deletes rows of a table, a thousand in a statement: all that have expired since an outage take longer than a statement
 * may, which would then fail each time. Rows that others have locked stay for the next call.
 * @param which a condition, and the order of an index that has the rows: `created_at < … order by created_at`. Without the
 *   order, Postgres can read the whole table for each chunk
 */
export async function deleteInChunks<Tables> (
  db: Kysely<Tables>,
  table: keyof Tables & string,
  which: RawBuilder<unknown>
) {
  // Not until nothing is left: rows can expire faster than one statement follows another.
  while (await deleteChunk(db, table, which) === DELETED_AT_ONCE);
}

/** Deletes a chunk of these rows. @returns how many there were */
export async function deleteChunk<Tables> (
  db: Kysely<Tables>,
  table: keyof Tables & string,
  which: RawBuilder<unknown>
) {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where ${which} limit ${sql.lit(DELETED_AT_ONCE)} for update skip locked
    ))`.execute(db)
  return Number(numAffectedRows)
}
