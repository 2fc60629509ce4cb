// It measures timeouts, and needs PgBouncer 1.21 or newer, which keeps prepared statements.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { freePort, until } from '@tandem/test-kit'
import { connect, provision } from './index.ts'

const server = process.env['TEST_DATABASE_URL'] ?? ''
const NOBODY = 65_534

const skip = await promisify(execFile)('pgbouncer', ['--version']).then(
  ({ stdout }) => {
    const [, major = '', minor = ''] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? []
    return Number(major) > 1 || Number(minor) >= 21
      ? false
      : `PgBouncer 1.21 is needed, this is ${stdout.split('\n')[0]}`
  },
  () => 'PgBouncer is not installed'
)

/** PgBouncer as docs/operations.md configures it, with two connections to Postgres. Returns the URL of a new service. */
async function startPgBouncer (t: Test) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-pgbouncer-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [port, { hostname, port: postgresPort, pathname }] = [await freePort(), new URL(server)]
  const service = `pooled${port}`
  const direct = new URL(await provision(server, service, 'secret'))
  t.teardown(async () => {
    const admin = new pg.Client({ connectionString: server })
    await admin.connect()
    await admin.query(`drop schema ${service} cascade`)
    await admin.query(`drop owned by tandem_${service}`)
    await admin.query(`drop role tandem_${service}`)
    await admin.end()
  })
  await writeFile(path.join(folder, 'users.txt'), `"tandem_${service}" "secret"\n`)
  await writeFile(
    path.join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${postgresPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${folder}/users.txt
pool_mode = transaction
default_pool_size = 2
max_prepared_statements = 500
ignore_startup_parameters = extra_float_digits,statement_timeout,lock_timeout,idle_in_transaction_session_timeout
`
  )
  await chmod(folder, 0o755)
  // It refuses to run as root.
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn('pgbouncer', [path.join(folder, 'pgbouncer.ini')], { ...ids, stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  direct.host = `127.0.0.1:${port}`
  direct.pathname = pathname
  return direct.href
}

t.test('a service works through PgBouncer in transaction mode', { skip }, async (t) => {
  const db = connect<Record<never, never>>(await startPgBouncer(t), { log: { warn () {} } })
  t.teardown(() => db.destroy())
  await until(() => sql`select 1`.execute(db).then(() => true, () => false))
  await sql`create table counts (id int primary key, value int not null)`.execute(db)
  await sql`insert into counts values (1, 0)`.execute(db)

  // Five connections of the pool share two of Postgres, and all have the same names of prepared statements.
  await Promise.all(Array.from({ length: 200 }, async (_, number) => {
    const { rows } = await sql<{ sum: number }>`select ${number}::int + 1 as sum`.execute(db)
    if (rows[0]?.sum !== number + 1) throw new Error(`${number} got ${rows[0]?.sum}`)
  }))

  await Promise.all(Array.from({ length: 20 }, async () => {
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${1}::bigint)`.execute(trx)
      const { rows: [row] } = await sql<{ value: number }>`select value from counts where id = ${1}::int`.execute(trx)
      await sql`update counts set value = ${(row?.value ?? 0) + 1}::int where id = ${1}::int`.execute(trx)
    })
  }))
  t.same((await sql`select value from counts`.execute(db)).rows, [{ value: 20 }], 'locks of transactions hold')

  await t.rejects(sql`select pg_sleep(10)`.execute(db), { code: '57014' }, 'the timeouts are those of the role')
  t.same((await sql`select current_schema() as schema`.execute(db)).rows.length, 1)
})
