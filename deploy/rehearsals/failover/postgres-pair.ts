import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFile, chown, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '@tandem/local-servers/ports.ts'
import { postgres } from '@tandem/local-servers/postgres.ts'
import { start } from '@tandem/local-servers/process.ts'

const run = promisify(execFile)

async function query (connectionString: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    let result: pg.QueryResult | undefined
    for (const statement of statements) result = await client.query(statement)
    return result?.rows[0] as Record<string, unknown> | undefined
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * A primary and a standby with synchronous replication: an acknowledged commit is on both. The standby is a copy of the
 * primary's data folder, as npm installs no pg_basebackup.
 */
export async function startPostgresPair (folder: string) {
  const data = path.join(folder, 'primary')
  const copy = path.join(folder, 'standby')
  const options = (name: string) => ({ logFile: path.join(folder, `${name}.log`), password })
  const password = randomUUID()
  const primary = await postgres(data, options('primary'))
  const running = await start(primary.recipe)

  await query(primary.url(), "select pg_create_physical_replication_slot('standby', true)")
  const client = new pg.Client({ connectionString: primary.url() })
  await client.connect()
  await client.query("select pg_backup_start('standby', fast => true)")
  await run('cp', ['-a', data, copy])
  const { rows: [label] } = await client.query<{ labelfile: string }>(
    'select labelfile from pg_backup_stop(wait_for_archive => false)'
  )
  await client.end()
  await rm(path.join(copy, 'postmaster.pid'))
  await rm(path.join(copy, 'pg_replslot/standby'), { recursive: true, force: true })
  const { port } = new URL(primary.url())
  await writeFile(path.join(copy, 'backup_label'), label?.labelfile ?? '')
  await writeFile(path.join(copy, 'standby.signal'), '')
  await appendFile(
    path.join(copy, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password} application_name=standby'
primary_slot_name = 'standby'
`
  )
  const owner = await stat(data)
  for (const file of ['backup_label', 'standby.signal']) await chown(path.join(copy, file), owner.uid, owner.gid)

  const standby = await postgres(copy, options('standby'))
  standby.recipe.port = await freePort()
  const runningStandby = await start(standby.recipe)
  await query(
    primary.url(),
    "alter system set synchronous_standby_names = 'ANY 1 (standby)'",
    'select pg_reload_conf()'
  )
  for (;; await sleep(100)) {
    const state = await query(
      primary.url(),
      "select sync_state from pg_stat_replication where application_name = 'standby'"
    )
    if (state?.['sync_state'] === 'quorum') break
  }

  return {
    /** The hosts of both, for a service's URL. */
    hosts: [primary, standby].map(({ url }) => new URL(url()).host),
    primaryUrl: primary.url(),
    standbyUrl: standby.url(),
    /** Kills the primary with SIGKILL. */
    killPrimary: async () => await running.kill(),
    /** Promotes the standby; it waits for no standby of its own. Returns once it accepts writes. */
    promote: async () => await query(standby.url(), 'select pg_promote(wait => true)'),
    async stop () {
      await Promise.all([running.kill(), runningStandby.kill()])
    }
  }
}
