import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import pg from 'pg'
import { findPrimary } from './hosts.ts'

/**
 * Migrates a schema to the current version of a service: first the tables of the kits that its package.json names, then
 * its own. It holds a lock, so it can run several times and on several machines at once. A schema that a later version of
 * the service has already migrated is not changed, so that a rollout can be rolled back.
 * @param url a connection whose search_path is the service's schema
 * @param folder the service's folder, with `package.json` and, if it has tables, `migrations/*.sql`
 * @throws the error of the first migration that failed, or an error that names one that is empty, duplicated, missing or
 * was edited after it ran; then none of the folder's migrations is applied
 */
export async function migrate (url: string, folder: string) {
  const pool = new pg.Pool({
    connectionString: await findPrimary(url),
    max: 1,
    connectionTimeoutMillis: 30_000,
    // The role's timeouts are those of requests.
    options: '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0'
  })
  // Without a handler, an idle connection that ends would crash the process. One in use makes its query fail.
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const { rows: [schema] } = await sql<{ name: string }>`
      select current_schema() as name, pg_advisory_lock(hashtext('tandem.migrate'), hashtext(current_schema()))`
      .execute(db)
    for (const directory of await migrationFolders(folder)) await runMigrations(db, directory, schema?.name)
  } finally {
    await db.destroy()
  }
}

async function runMigrations (db: Kysely<unknown>, directory: string, schema: string | undefined) {
  const name = path.basename(path.dirname(directory)).replaceAll('-', '_')
  const files = await readMigrations(directory)
  const checksums = sql.table(`${name}_migration_checksums`)
  await sql`create table if not exists ${checksums} (name text primary key, sha256 text not null)`.execute(db)
  const { rows: ran } = await sql<{ name: string, sha256: string }>`select name, sha256 from ${checksums} order by name`
    .execute(db)

  const migrations: Record<string, Migration> = {}
  for (const [file, { text, sha256 }] of Object.entries(files)) {
    const applied = ran.find((each) => each.name === file)
    if (applied && applied.sha256 !== sha256) {
      throw new Error(`migration ${name}/${file} was edited after it ran here: add a new one instead`)
    }
    migrations[file] = {
      async up (trx) {
        await sql.raw(text).execute(trx)
        await sql`insert into ${checksums} values (${file}, ${sha256})`.execute(trx)
      }
    }
  }
  const newest = Object.keys(files).at(-1) ?? ''
  for (const later of ran.filter((each) => each.name > newest)) migrations[later.name] = { up: async () => {} }

  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
    migrationTableName: `${name}_migrations`,
    migrationLockTableName: `${name}_migrations_lock`
  })
  const { error, results } = await migrator.migrateToLatest()
  const failed = results?.find((result) => result.status === 'Error')
  if (error) throw new Error(`migration ${name}/${failed?.migrationName ?? '?'} failed`, { cause: error })
}

/** Lists the folders with the migrations of a service's schema, in the order in which they run. */
export async function migrationFolders (folder: string) {
  const { dependencies = {} } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  const kits = Object.keys(dependencies).filter((name) => name.startsWith('@tandem/')).sort()
  const folders = [...kits.map((kit) => path.join(folder, 'node_modules', kit)), folder]

  const found: string[] = []
  for (const each of folders) {
    const entries = await readdir(each)
    if (entries.includes('migrations')) found.push(path.join(each, 'migrations'))
  }
  return found
}

/** The migrations of a folder by name, in their order. @throws if one is empty, or two have the same number */
export async function readMigrations (directory: string) {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).toSorted()
  const migrations: Record<string, { text: string, sha256: string }> = {}
  const byNumber = new Map<string, string>()
  for (const file of files) {
    const [number = ''] = file.split('-', 1)
    const other = byNumber.get(number)
    if (other) throw new Error(`migrations ${other} and ${file} have the same number`)
    byNumber.set(number, file)
    const text = await readFile(path.join(directory, file), 'utf8')
    if (text.replaceAll(/--.*$/gm, '').trim() === '') throw new Error(`migration ${file} is empty`)
    migrations[path.basename(file, '.sql')] = { text, sha256: createHash('sha256').update(text).digest('hex') }
  }
  return migrations
}
