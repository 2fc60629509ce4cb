import { createHash } from 'node:crypto'
import type pg from 'pg'

interface Search {
  /** A row is found if it contains one of these texts, … */
  traces: string[]
  /** … and none of these. */
  without: string[]
}

export interface Found {
  count: number
  digest: string
}

// They change when others do something, or by themselves.
const VOLATILE = '(count|counts|_at|_on|seq|score|version|epoch|until|attempts|sequence|xp|streak)$'

/**
 * Searches every column of every table for texts. @returns how many rows each table has, and a digest of them without
 * their counters and times
 */
export async function readTraces (
  database: pg.Client | pg.Pool,
  { traces, without }: Search
): Promise<Map<string, Found>> {
  const { rows: tables } = await database.query<{ schema: string, name: string }>(
    `select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1, 2`
  )
  const found = new Map<string, Found>()
  for (const { schema, name } of tables) {
    const { rows } = await database.query<{ row: string }>(
      `select (
        select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(live)) where key !~ '${VOLATILE}'
      )::text as row
      from "${schema}"."${name}" live
      where live::text ~ any($1) and not live::text ~ any($2)`,
      [traces, without]
    )
    const digest = createHash('sha256').update(rows.map(({ row }) => row).sort().join('\n')).digest('hex')
    if (rows.length > 0) found.set(`${schema}.${name}`, { count: rows.length, digest })
  }
  return found
}
