import path from 'node:path'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { migrationFolders, readMigrations } from './migrate.ts'

// During a rollout, the previous version writes to the schema of the new one. So a migration may only add, and nothing
// that the previous version would have to write.

interface Column {
  table: string
  name: string
  type: string
  isRequired: boolean
  hasDefault: boolean
}
interface Constraint {
  table: string
  name: string
  definition: string
}
interface Schema {
  tables: Set<string>
  columns: Map<string, Column>
  constraints: Map<string, Constraint>
}

/**
 * Lists changes in a service's migrations that break its previous version, as `social/002-name: likes.kind is required
 * and has no default`. To allow one, name it in a comment of the migration, with the reason: `-- Safe: likes.kind, …`.
 * @param url a connection to an empty schema, in which the migrations are run
 * @param folder the service's folder
 */
export async function listBreakingChanges (url: string, folder: string): Promise<string[]> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })
  })
  const breakingChanges: string[] = []
  try {
    for (const directory of await migrationFolders(folder)) {
      for (const [name, { text, concurrent }] of Object.entries(await readMigrations(directory))) {
        const before = await readSchema(db)
        // A schema without rows needs no concurrent builds, which wait for every transaction of the database.
        const statements = concurrent ? text.replaceAll(' concurrently', '') : text
        await db.transaction().execute(async (trx: Transaction<unknown>) => await sql.raw(statements).execute(trx))
        const allowed = [...text.matchAll(/^-- Safe: (\S+), /gm)].map(([, name]) => name)
        const found = compare(before, await readSchema(db)).filter((change) => !allowed.includes(change.name))
        const service = path.basename(path.dirname(directory))
        breakingChanges.push(...found.map((change) => `${service}/${name}: ${change.name} ${change.problem}`))
      }
    }
    return breakingChanges
  } finally {
    await db.destroy()
  }
}

function compare (before: Schema, after: Schema) {
  const changes: { name: string, problem: string }[] = []
  const report = (name: string, problem: string) => changes.push({ name, problem })
  for (const table of before.tables) if (!after.tables.has(table)) report(table, 'was removed')
  for (const [name, { table, type, isRequired, hasDefault }] of before.columns) {
    const column = after.columns.get(name)
    if (!after.tables.has(table)) continue
    if (!column) report(name, 'was removed')
    else if (column.type !== type) report(name, `was ${type} and is ${column.type}`)
    else if (column.isRequired && !isRequired) report(name, 'is no longer nullable')
    else if (column.isRequired && hasDefault && !column.hasDefault) report(name, 'no longer has a default')
  }
  for (const [name, { table, isRequired, hasDefault }] of after.columns) {
    const isNew = before.tables.has(table) && !before.columns.has(name)
    if (isNew && isRequired && !hasDefault) report(name, 'is required and has no default')
  }
  for (const [name, { table, definition }] of after.constraints) {
    if (before.tables.has(table) && before.constraints.get(name)?.definition !== definition) {
      report(name, `is a new constraint: ${definition}`)
    }
  }
  return changes
}

async function readSchema (db: Kysely<unknown>): Promise<Schema> {
  const { rows: columns } = await sql<Column>`
    select relname as table, attname as name, format_type(atttypid, atttypmod) as type, attnotnull as "isRequired",
      atthasdef or attidentity <> '' or attgenerated <> '' as "hasDefault"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped`
    .execute(db)
  // All that can reject a row: constraints, and unique indexes without one.
  const { rows: constraints } = await sql<Constraint>`
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
    constraints: new Map(constraints.map((constraint) => [`${constraint.table}.${constraint.name}`, constraint]))
  }
}
