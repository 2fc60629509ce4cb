import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import pg from 'pg'
import { findPrimary } from './hosts.ts'

const LOCK_RETRY_MS = 200

/**
 * Migrates a schema to the current version of a service: first the tables of the kits that its package.json names, then
 * its own. It holds a lock, so it can run several times and on several machines at once. A schema that a later version of
 * the service has already migrated is not changed, so that a rollout can be rolled back.
 * @param url a connection whose search_path is the service's schema
 * @param folder the service's folder, with `package.json` and, if it has tables, `migrations/*.sql`
 * @throws the error of the first migration that failed, or an error that names one that is empty, duplicated, missing or
 * was edited after it ran; then none of the folder's migrations is applied, except those up to one without a transaction
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
    const schema = await lockSchema(db)
    for (const directory of await migrationFolders(folder)) await runMigrations(db, directory, schema)
  } finally {
    await db.destroy()
  }
}

/** Locks the schema for the session. */
async function lockSchema (db: Kysely<unknown>) {
  for (;;) {
    const { rows: [schema] } = await sql<{ name: string, isLocked: boolean | null }>`
      select current_schema() as name,
        pg_try_advisory_lock(hashtext('tandem.migrate'), hashtext(current_schema())) as "isLocked"`.execute(db)
    // Null without a schema, which the first statement reports.
    if (schema?.isLocked !== false) return schema?.name
    // A statement that waited for the lock would deadlock: a concurrent index build waits for all that are running.
    await sleep(LOCK_RETRY_MS)
  }
}

async function runMigrations (db: Kysely<unknown>, directory: string, schema: string | undefined) {
  const name = path.basename(path.dirname(directory)).replaceAll('-', '_')
  const files = await readMigrations(directory)
  const checksums = sql.table(`${name}_migration_checksums`)
  await sql`create table if not exists ${checksums} (name text primary key, sha256 text not null)`.execute(db)
  const { rows: ran } = await sql<{ name: string, sha256: string }>`select name, sha256 from ${checksums} order by name`
    .execute(db)

  const wasEdited = (file: string) => ran.some((each) => each.name === file && each.sha256 !== files[file]?.sha256)
  const edited = Object.keys(files).find(wasEdited)
  if (edited) throw new Error(`migration ${name}/${edited} was edited after it ran here: add a new one instead`)

  const migrations: Record<string, Migration> = {}
  async function run () {
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

  for (const [file, { text, sha256, concurrent }] of Object.entries(files)) {
    if (concurrent && !ran.some((each) => each.name === file)) {
      await run()
      // Not in `up`: Kysely has one lock for all schemas, and its waiters would deadlock with the build as well.
      await runConcurrent(db, concurrent).catch((error: unknown) => {
        throw new Error(`migration ${name}/${file} failed`, { cause: error })
      })
    }
    migrations[file] = {
      async up (trx) {
        if (!concurrent) await sql.raw(text).execute(trx)
        await sql`insert into ${checksums} values (${file}, ${sha256})`.execute(trx)
      }
    }
  }
  const newest = Object.keys(files).at(-1) ?? ''
  for (const later of ran.filter((each) => each.name > newest)) migrations[later.name] = { up: async () => {} }
  await run()
}

/** Runs statements that can be repeated: a process may have died between them, or in the middle of one. */
async function runConcurrent (db: Kysely<unknown>, statements: ConcurrentStatement[]) {
  for (const { text, index } of statements) {
    // What is left of a build that did not end.
    const { rows: invalid } = await sql`
      select from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`.execute(db)
    if (invalid.length > 0) await sql`drop index concurrently if exists ${sql.ref(index)}`.execute(db)
    await sql.raw(text).execute(db)
  }
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

interface ConcurrentStatement {
  text: string
  index: string
}
interface MigrationFile {
  text: string
  sha256: string
  /** The statements of a migration without a transaction. */
  concurrent: ConcurrentStatement[] | undefined
}

/** The migrations of a folder by name, in their order. @throws if one is wrong, or two have the same number */
export async function readMigrations (directory: string) {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).toSorted()
  const migrations: Record<string, MigrationFile> = {}
  const byNumber = new Map<string, string>()
  for (const file of files) {
    const [number = ''] = file.split('-', 1)
    const other = byNumber.get(number)
    if (other) throw new Error(`migrations ${other} and ${file} have the same number`)
    byNumber.set(number, file)
    const text = await readFile(path.join(directory, file), 'utf8')
    const statements = text.replaceAll(/--.*$/gm, '').trim()
    if (statements === '') throw new Error(`migration ${file} is empty`)
    const concurrent = text.startsWith('-- Without a transaction: ') ? parseConcurrent(file, statements) : undefined
    const sha256 = createHash('sha256').update(text).digest('hex')
    migrations[path.basename(file, '.sql')] = { text, sha256, concurrent }
  }
  return migrations
}

function parseConcurrent (file: string, statements: string): ConcurrentStatement[] {
  return statements.split(';').map((each) => each.trim()).filter(Boolean).map((text) => {
    const [, index] =
      /^(?:create (?:unique )?index concurrently if not exists|drop index concurrently if exists) (\w+)/.exec(text) ??
        []
    if (index) return { text, index }
    throw new Error(
      `migration ${file}: without a transaction, indexes are created with "create index concurrently if ` +
        'not exists" and dropped with "drop index concurrently if exists"; all else is another migration'
    )
  })
}
