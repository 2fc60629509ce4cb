import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { PersonalDataPage } from '@tandem/contracts'
import type { Exported, Personal } from './personal-data.ts'

/** A page fits into a message of NATS, whose limit is 1 MiB by default. */
const PAGE_BYTES = 256 * 1024
const ROWS_PER_QUERY = 200

type Table = [name: string, entry: Personal<never>]
type Key = string[] | null
type Thing = PersonalDataPage['things'][number]

/**
 * Reads a page of what belongs in the copy of an account's data: rows of one or more tables, each in the order of its
 * primary key. `after` is the `next` of the previous page. Rows that are written meanwhile may be in it or not.
 */
export async function readPersonalData (
  db: Kysely<never>,
  tables: Table[],
  { accountId, after }: { accountId: string, after: string | null }
): Promise<PersonalDataPage> {
  const exported = tables.flatMap(([name, entry]) => {
    const copy = exportOf(entry)
    return copy ? [{ name, copy }] : []
  })
  const [first, firstKey] = after === null ? [exported[0]?.name, null] : JSON.parse(after) as [string, Key]
  const start = exported.findIndex(({ name }) => name === first)
  if (start < 0) throw new Error(`no exported table is named ${first}`)

  const things: Thing[] = []
  let bytes = 0
  for (const { name, copy } of exported.slice(start)) {
    const thing: Thing = { name, rows: [], files: [] }
    let key = name === first ? firstKey : null
    for (let isMore = true; isMore;) {
      const rows = await readRows(db, { name, copy, accountId, after: key })
      isMore = rows.length === ROWS_PER_QUERY
      for (const row of rows) {
        const length = Buffer.byteLength(row.json) + row.files.join().length
        if (bytes > 0 && bytes + length > PAGE_BYTES) {
          return { things: thing.rows.length > 0 ? [...things, thing] : things, next: JSON.stringify([name, key]) }
        }
        bytes += length
        thing.rows.push(JSON.parse(row.json) as Record<string, unknown>)
        thing.files.push(...row.files.filter((file) => file !== null))
        key = row.key
      }
    }
    if (thing.rows.length > 0) things.push(thing)
  }
  return { things, next: null }
}

/** What of a table is in the copy, with the defaults; undefined if it is left out. */
export function exportOf ({ rowsOf, files, exported }: Personal<never>): Required<Exported> | undefined {
  if ('not' in exported) return
  const { columns, ...options }: Exported = 'columns' in exported ? exported : { columns: exported }
  return {
    rows: rowsOf,
    values: () => ({}),
    files: () => files ?? sql<string[]>`'{}'::text[]`,
    ...options,
    columns
  }
}

interface Query {
  name: string
  copy: Required<Exported>
  accountId: string
  after: Key
}

async function readRows (db: Kysely<never>, { name, copy, accountId, after }: Query) {
  const key = await findPrimaryKey(db, name)
  const values = copy.values(accountId)
  const fields = [...new Set([...copy.columns, ...Object.keys(values)])]
    .map((column) => sql`${sql.lit(column)}, ${values[column] ?? sql.ref(column)}`)
  const columns = key.map((column) => sql.ref(column.name))
  const isAfter = after
    ? sql`(${sql.join(columns)}) > (${sql.join(after.map((value, index) => cast(value, key[index]?.type ?? 'text')))})`
    : sql`true`
  const { rows } = await sql<{ json: string, key: string[], files: string[] }>`
    select jsonb_build_object(${sql.join(fields)})::text as json,
      array[${sql.join(columns.map((column) => sql`${column}::text`))}] as key,
      ${copy.files(accountId)} as files
    from ${sql.table(name)} where ${copy.rows(accountId)} and ${isAfter}
    order by ${sql.join(columns)} limit ${sql.lit(ROWS_PER_QUERY)}`.execute(db)
  return rows
}

// The name of the type comes from Postgres.
const cast = (value: string, type: string): RawBuilder<unknown> => sql`${value}::text::${sql.raw(type)}`

const primaryKeys = new WeakMap<object, Map<string, { name: string, type: string }[]>>()

/** The columns of a table's primary key in their order. @throws if it has none: pages need an order */
export async function findPrimaryKey (db: Kysely<never>, table: string) {
  const known = primaryKeys.get(db) ?? new Map<string, { name: string, type: string }[]>()
  primaryKeys.set(db, known)
  const found = known.get(table)
  if (found) return found
  const { rows } = await sql<{ name: string, type: string }>`
    select attname::text as name, format_type(atttypid, atttypmod) as type
    from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
    where indrelid = ${table}::regclass and indisprimary
    order by array_position(indkey::int2[], attnum)`.execute(db)
  if (rows.length === 0) throw new Error(`${table} needs a primary key to be exported`)
  known.set(table, rows)
  return rows
}
