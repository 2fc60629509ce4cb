import path from 'node:path'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { migrationFolders, readMigrations } from './migrate.ts'

// While a roll-out lasts, the version before writes to the schema of the new one. So a migration may add what nobody
// must fill in, and no more.

interface Column {
  table: string
  name: string
  type: string
  required: boolean
  filled: boolean
}
interface Rule {
  table: string
  name: string
  definition: string
}
interface Shape {
  tables: Set<string>
  columns: Map<string, Column>
  rules: Map<string, Rule>
}

/**
 * What of a service's migrations the version before it would stumble over, as `002-name: column likes.kind must be
 * filled in`. A migration that is sure of itself names the thing and its reason in a comment: `-- Safe: likes.kind, …`.
 * @param url a connection to an empty schema; it is filled
 * @param folder the service's folder
 */
export async function listBreakingChanges (url: string, folder: string): Promise<string[]> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })
  })
  const breaks: string[] = []
  try {
    for (const directory of await migrationFolders(folder)) {
      for (
        const [name, { text }] of Object.entries(await readMigrations(directory)).sort((
          [one],
          [other]
        ) => (one < other ? -1 : 1))
      ) {
        const before = await readShape(db)
        await db.transaction().execute(async (trx: Transaction<unknown>) => await sql.raw(text).execute(trx))
        const excuses = [...text.matchAll(/^-- Safe: (\S+), /gm)].map(([, what]) => what)
        const found = compare(before, await readShape(db)).filter(({ what }) => !excuses.includes(what))
        breaks.push(
          ...found.map(({ what, why }) => `${path.basename(path.dirname(directory))}/${name}: ${what} ${why}`)
        )
      }
    }
    return breaks
  } finally {
    await db.destroy()
  }
}

function compare (before: Shape, after: Shape) {
  const breaks: { what: string, why: string }[] = []
  const say = (what: string, why: string) => breaks.push({ what, why })
  for (const table of before.tables) if (!after.tables.has(table)) say(table, 'is gone')
  for (const [what, { table, type, required, filled }] of before.columns) {
    const now = after.columns.get(what)
    if (!after.tables.has(table)) continue
    if (!now) say(what, 'is gone')
    else if (now.type !== type) say(what, `was ${type} and is ${now.type}`)
    else if (now.required && !required) say(what, 'may be null no more')
    else if (now.required && filled && !now.filled) say(what, 'has no default any more')
  }
  for (const [what, { table, required, filled }] of after.columns) {
    if (before.tables.has(table) && !before.columns.has(what) && required && !filled) say(what, 'must be filled in')
  }
  for (const [what, { table, definition }] of after.rules) {
    if (before.tables.has(table) && before.rules.get(what)?.definition !== definition) {
      say(what, `is a new rule: ${definition}`)
    }
  }
  return breaks
}

async function readShape (db: Kysely<unknown>): Promise<Shape> {
  const { rows: columns } = await sql<Column>`
    select relname as table, attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required,
      atthasdef or attidentity <> '' or attgenerated <> '' as filled
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped`
    .execute(db)
  // What may be refused: a primary key, unique, check and foreign keys, and unique indexes that are no constraint.
  const { rows: rules } = await sql<Rule>`
    select relname as table, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where connamespace = current_schema()::regnamespace and contype in ('p', 'u', 'c', 'f', 'x')
    union all
    select owner.relname, index.relname, pg_get_indexdef(indexrelid)
    from pg_index join pg_class owner on owner.oid = indrelid join pg_class index on index.oid = indexrelid
    where owner.relnamespace = current_schema()::regnamespace and indisunique
      and not exists (select from pg_constraint where conindid = indexrelid)`.execute(db)
  return {
    tables: new Set(columns.map(({ table }) => table)),
    columns: new Map(columns.map((column) => [`${column.table}.${column.name}`, column])),
    rules: new Map(rules.map((rule) => [`${rule.table}.${rule.name}`, rule]))
  }
}
