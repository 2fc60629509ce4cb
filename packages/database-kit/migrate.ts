import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import pg from 'pg'

/**
 * Brings a schema to the newest version of a service: first the tables of the kits that its package.json names, then its own.
 * Safe to run several times and from several machines at once: Kysely holds a lock meanwhile.
 * @param url a connection whose search_path is the service's schema
 * @param folder the service's folder, which holds `package.json` and perhaps `migrations/*.sql`
 * @throws the first migration's error; nothing of that set of migrations stays
 */
export async function migrate (url: string, folder: string) {
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 10_000 })
  // A connection that ends while it is idle would end the process; one that is in use fails its query, which says so.
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const schema = await sql<{ name: string }>`select current_schema() as name`.execute(db)
    for (const directory of await migrationFolders(folder)) {
      const name = path.basename(path.dirname(directory)).replaceAll('-', '_')
      const migrator = new Migrator({
        db,
        provider: { getMigrations: () => readMigrations(directory) },
        migrationTableSchema: schema.rows[0]?.name,
        migrationTableName: `${name}_migrations`,
        migrationLockTableName: `${name}_migrations_lock`
      })
      const { error, results } = await migrator.migrateToLatest()
      const failed = results?.find((result) => result.status === 'Error')
      if (error) throw new Error(`migration ${name}/${failed?.migrationName ?? '?'} failed`, { cause: error })
    }
  } finally {
    await db.destroy()
  }
}

/** The folders whose migrations make a service's schema, in the order in which they are run. */
export async function migrationFolders (folder: string) {
  const { dependencies = {} } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> }
  const kits = Object.keys(dependencies).filter((name) => name.startsWith('@tandem/')).sort()
  const folders = [...kits.map((kit) => path.join(folder, 'node_modules', kit)), folder]

  const found: string[] = []
  for (const each of folders) {
    const entries = await readdir(each)
    if (entries.includes('migrations')) found.push(path.join(each, 'migrations'))
  }
  return found
}

export async function readMigrations (directory: string) {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql'))
  const migrations: Record<string, Migration & { text: string }> = {}
  for (const file of files) {
    const text = await readFile(path.join(directory, file), 'utf8')
    migrations[path.basename(file, '.sql')] = { text, up: async (db) => { await sql.raw(text).execute(db) } }
  }
  return migrations
}
