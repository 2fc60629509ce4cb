import { createHash, randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import pg from 'pg'
import type { Teardown } from '@tandem/test-kit'
import { connect } from './connect.ts'
import { migrate } from './migrate.ts'

let admins: pg.Pool | undefined

/**
 * A Postgres database of the test's own, with a schema that is migrated as `folder`'s service would be, so that test
 * files run side by side. The server is the one `npm test` started.
 */
export async function testDatabase<Tables> (t: Teardown, folder: string): Promise<{ db: Kysely<Tables>, url: string }> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await asAdmin(async (admin) => {
    const template = await ensureTemplate(admin, folder)
    // Its other way writes every page to the log: half of the processor time.
    await admin.query(`create database ${name} template ${template} strategy file_copy`)
  })
  t.teardown(async () => await asAdmin(async (admin) => await dropDatabase(admin, name)))
  const url = urlOf(name, 'public')
  // A busy machine is no reason for a test to fail.
  const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
  t.teardown(() => db.destroy())
  return { db, url }
}

// Postgres sleeps for 100 ms if a connection is still open when it drops a database; closed ones take some ms to end.
async function dropDatabase (admin: pg.ClientBase, name: string) {
  const isUsed = async () =>
    (await admin.query('select from pg_stat_activity where datname = $1', [name])).rowCount !== 0
  for (let tries = 0; tries < 10 && await isUsed(); tries++) await sleep(5)
  await admin.query(`drop database ${name} with (force)`)
}

/** Migrates a service's schema once for all test files: a copy takes a twentieth of the time of its migrations. */
async function ensureTemplate (admin: pg.ClientBase, folder: string) {
  const template = `template_${createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 16)}`
  await admin.query(`select pg_advisory_lock(hashtext('${template}'))`)
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [template])
  if (rowCount === 0) {
    const unfinished = `${template}_unfinished`
    await admin.query(`drop database if exists ${unfinished} with (force)`)
    await admin.query(`create database ${unfinished}`)
    await migrate(urlOf(unfinished, 'public'), folder)
    await admin.query(`alter database ${unfinished} rename to ${template}`)
  }
  await admin.query(`select pg_advisory_unlock(hashtext('${template}'))`)
  return template
}

/** A Postgres schema of the test's own, filled by `fill` and dropped afterwards. Returns the connection URL to it. */
export async function testSchema (t: Teardown, fill: (url: string) => Promise<unknown>): Promise<string> {
  const schema = `test_${randomBytes(8).toString('hex')}`
  const url = urlOf(undefined, schema)
  t.teardown(async () => {
    await alongside('pg_advisory_lock', async (admin) => await admin.query(`drop schema if exists ${schema} cascade`))
  })
  await alongside('pg_advisory_lock_shared', async (admin) => {
    await admin.query(`create schema ${schema}`)
    await fill(url)
  })
  return url
}

// Kysely reads the catalogue of every schema while it migrates, and fails if one of them goes away meanwhile.
async function alongside (
  lock: 'pg_advisory_lock' | 'pg_advisory_lock_shared',
  work: (admin: pg.ClientBase) => Promise<unknown>
) {
  await asAdmin(async (admin) => {
    await admin.query(`select ${lock}(hashtext('tandem.test-schemas'))`)
    await work(admin)
    // The next file of this process has the same connection.
    await admin.query('select pg_advisory_unlock_all()')
  })
}

/** Runs `work` on a connection to the database in which `npm test` starts. */
async function asAdmin<Result> (work: (admin: pg.ClientBase) => Promise<Result>) {
  admins ??= new pg.Pool({ connectionString: urlOf(undefined), allowExitOnIdle: true })
  const admin = await admins.connect()
  let hasFailed = true
  try {
    const result = await work(admin)
    hasFailed = false
    return result
  } finally {
    // One that failed is closed, as it may hold a lock.
    admin.release(hasFailed)
  }
}

function urlOf (database: string | undefined, schema?: string) {
  const server = process.env['TEST_DATABASE_URL']
  if (!server) throw new Error('TEST_DATABASE_URL is not set: run this file with `npm test -- <file>`')
  const url = new URL(server)
  if (database) url.pathname = database
  if (schema) url.searchParams.set('options', `-c search_path=${schema}`)
  return url.href.replaceAll('+', '%20')
}

interface Check {
  equal(found: unknown, wanted: unknown, message: string): unknown
}

/**
 * Checks that a job runs its other steps, and fails all the same, while a table is missing for one of them.
 * @param expired inserts a row that another step deletes, into `table`
 */
export async function checkSteps<Tables> (
  t: Check,
  { db, run, missing, expired, table }: {
    db: Kysely<Tables>,
    run: () => Promise<unknown>,
    missing: string,
    expired: RawBuilder<unknown>,
    table: string
  }
) {
  const count = async () => {
    const { rows: [found] } = await sql<{ rows: number }>`select count(*)::int as rows from ${sql.table(table)}`
      .execute(db)
    return found?.rows
  }
  const before = await count()
  await expired.execute(db)
  await sql`alter table ${sql.table(missing)} rename to away`.execute(db)
  try {
    const error = await run().then(() => undefined, (error: Error) => error)
    t.equal(error?.message.includes('failed'), true, 'the job fails')
    t.equal(await count(), before, 'the other steps have run')
  } finally {
    await sql`alter table away rename to ${sql.id(missing)}`.execute(db)
  }
  await run()
}

/** A key that expired; for `checkSteps`. */
export const expiredIdempotencyKey = () =>
  sql`
  insert into idempotency_keys (account_id, key, request_digest, response, created_at)
  values (${randomUUID()}, 'key', 'digest', '{}', now() - interval '2 days')`
