import { sql, type Kysely, type RawBuilder } from 'kysely'

const CHUNK_SIZE = 1_000

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
  while (await deleteChunk(db, table, which) > 0);
}

/** Deletes at most a thousand of these rows. @returns how many */
export async function deleteChunk<Tables> (
  db: Kysely<Tables>,
  table: keyof Tables & string,
  which: RawBuilder<unknown>
) {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where ${which} limit ${sql.lit(CHUNK_SIZE)} for update skip locked
    ))`.execute(db)
  return Number(numAffectedRows)
}
