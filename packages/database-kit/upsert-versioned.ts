import { sql, type Insertable, type Kysely } from 'kysely'

/** A timestamp can be a text too: a Date would cut its microseconds. */
type Row<Table> = {
  [Column in keyof Insertable<Table>]: Insertable<Table>[Column] extends Date | null | undefined
    ? Insertable<Table>[Column] | string
    : Insertable<Table>[Column]
}

interface Versioned<Table> {
  /** The primary key. */
  key: keyof Table & string
  /** The column that orders the changes of a row; `changed_at` by default. */
  version?: keyof Table & string
}

/**
 * Writes copies of facts that another service owns. A row is written if it is new, or if its version is later than the
 * stored one, so events can arrive twice, late and out of order. Every row has the same columns; columns that they omit
 * keep their values. Each row stays locked until the end of the transaction, written or not.
 * @returns the keys of the rows that were written
 */
export async function upsertVersioned<Tables, Name extends keyof Tables & string> (
  db: Kysely<Tables>,
  table: Name,
  rows: Row<Tables[Name]>[],
  { key, version = 'changed_at' as typeof key }: Versioned<Tables[Name]>
): Promise<string[]> {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const changes = sql.join(
    columns.filter((column) => column !== key).map((column) =>
      sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`
    )
  )
  const [stored, next] = [sql.ref(`stored.${version}`), sql.ref(`excluded.${version}`)]
  // One text for any number of rows, so that it is prepared once. In the order of the key, so that two concurrent
  // writes of many rows cannot deadlock.
  const written = await sql<{ key: string }>`
    insert into ${sql.table(table)} as stored (${list})
    select ${list} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}) order by ${
    sql.ref(key)
  }
    on conflict (${sql.ref(key)}) do update set ${changes} where ${stored} is null or ${stored} < ${next}
    returning stored.${sql.ref(key)} as key`.execute(db)
  return written.rows.map((row) => row.key)
}
