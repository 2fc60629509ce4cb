import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import pg from 'pg'
import type { Teardown } from '@tandem/test-kit'
import { connect } from './connect.ts'
import { migrate } from './migrate.ts'

/**
 * A Postgres schema of the test's own, migrated as `folder`'s service would be and dropped afterwards, so that test
 * files run side by side. The server is the one `npm test` started.
 */
export async function testDatabase<Tables> (t: Teardown, folder: string): Promise<{ db: Kysely<Tables>, url: string }> {
  const url = await testSchema(t, async (own) => await migrate(own, folder))
  // A busy machine is no reason for a test to fail.
  const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
  t.teardown(() => db.destroy())
  return { db, url }
}

/** A Postgres schema of the test's own, filled by `fill` and dropped afterwards. Returns the connection URL to it. */
export async function testSchema (t: Teardown, fill: (url: string) => Promise<unknown>): Promise<string> {
  const server = process.env['TEST_DATABASE_URL']
  if (!server) throw new Error('TEST_DATABASE_URL is not set: run this file with `npm test -- <file>`')

  const schema = `test_${randomBytes(8).toString('hex')}`
  const own = new URL(server)
  own.searchParams.set('options', `-c search_path=${schema}`)
  const url = own.href.replaceAll('+', '%20')

  t.teardown(async () => {
    await alongside(
      server,
      'pg_advisory_lock',
      async (admin) => await admin.query(`drop schema if exists ${schema} cascade`)
    )
  })
  await alongside(server, 'pg_advisory_lock_shared', async (admin) => {
    await admin.query(`create schema ${schema}`)
    await fill(url)
  })
  return url
}

// Kysely reads the catalogue of every schema while it migrates, and fails if one of them goes away meanwhile.
async function alongside (
  url: string,
  lock: 'pg_advisory_lock' | 'pg_advisory_lock_shared',
  work: (admin: pg.Client) => Promise<unknown>
) {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  try {
    await admin.query(`select ${lock}(hashtext('tandem.test-schemas'))`)
    await work(admin)
  } finally {
    await admin.end()
  }
}
