import { execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import { provision } from '@tandem/database-kit'

const run = promisify(execFile)
const folder = import.meta.dirname
const server = process.env['TEST_DATABASE_URL'] ?? ''

const skip = await run('pg_dump', ['--version']).then(
  ({ stdout }) => Number(/(\d+)/.exec(stdout)?.[1]) >= 18 ? false : `pg_dump 18 is needed, this is ${stdout.trim()}`,
  () => 'pg_dump is not installed'
)

t.test('a backup that never succeeded is old, and one that failed keeps the age of the last', async (t) => {
  const place = await mkdtemp(path.join(tmpdir(), 'tandem-backup-'))
  t.teardown(() => rm(place, { recursive: true, force: true }))
  await writeFile(path.join(place, 'pg_dump'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const env = { PATH: `${place}:${process.env['PATH']}`, BACKUP_DIR: place }
  const metric = path.join(place, 'metrics/backup.prom')
  const fail = async () => {
    await t.rejects(run('sh', [path.join(folder, 'backup.sh'), 'once'], { env }))
    return await readFile(metric, 'utf8')
  }
  t.equal(await fail(), 'tandem_backup_last_success_timestamp_seconds 0\n')
  await writeFile(metric, 'tandem_backup_last_success_timestamp_seconds 1764000000\n')
  t.equal(await fail(), 'tandem_backup_last_success_timestamp_seconds 1764000000\n')
})

t.test('the next dump is made with a password that was changed', async (t) => {
  const place = t.testdir({ password: 'old', changed: 'new', pg_dump: '#!/bin/sh\necho "$PGPASSWORD"\nexit 1\n' })
  await chmod(path.join(place, 'pg_dump'), 0o755)
  const password = path.join(place, 'password')
  const backup = spawn('sh', [path.join(folder, 'backup.sh')], {
    env: {
      PATH: `${place}:${process.env['PATH']}`,
      BACKUP_DIR: place,
      BACKUP_INTERVAL_HOURS: '0',
      PGPASSWORD_FILE: password
    },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  t.teardown(() => backup.kill('SIGKILL'))
  const used = new Set<string>()
  for await (const line of createInterface(backup.stdout)) {
    if (used.size === 0) await rename(path.join(place, 'changed'), password)
    used.add(line)
    if (used.size === 2) break
  }
  t.strictSame([...used], ['old', 'new'])
})

t.test('only its owner reads a dump, and parts of old ones that were stopped are deleted like old dumps', async (t) => {
  const old = new Date('2026-01-01')
  const place = t.testdir({
    'tandem-1.dump': '',
    'tandem-2.dump.part': '',
    'pg_dump': '#!/bin/sh\necho dump > "${2#--file=}"\n'
  })
  for (const name of ['tandem-1.dump', 'tandem-2.dump.part']) await utimes(path.join(place, name), old, old)
  await chmod(path.join(place, 'pg_dump'), 0o755)
  const env = { PATH: `${place}:${process.env['PATH']}`, BACKUP_DIR: place }
  await run('sh', [path.join(folder, 'backup.sh'), 'once'], { env })
  const [dump = '', ...others] = (await readdir(place)).filter((name) => name.startsWith('tandem-'))
  t.strictSame(others, [])
  t.equal((await stat(path.join(place, dump))).mode & 0o777, 0o600)
  t.equal((await stat(path.join(place, 'metrics/backup.prom'))).mode & 0o044, 0o044, 'node_exporter reads the metric')
})

t.test('a schema is restored from the dump of compose, alone or not at all', { skip }, async (t) => {
  const backups = await mkdtemp(path.join(tmpdir(), 'tandem-backup-'))
  t.teardown(() => rm(backups, { recursive: true, force: true }))
  // A database of its own, because other tests drop schemas while this one is dumped.
  const suffix = String(process.pid)
  const [database, first, second] = [`backup_${suffix}`, `first${suffix}`, `second${suffix}`]
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`create database ${database}`)
  const own = new URL(server)
  own.pathname = database
  const urls = [await provision(own.href, first, 'secret'), await provision(own.href, second, 'secret')]
  const clients = [...urls, own.href].map((connectionString) => new pg.Client({ connectionString }))
  t.teardown(async () => {
    for (const client of clients) await client.end()
    await admin.query(`drop database ${database} with (force)`)
    for (const name of [first, second]) await admin.query(`drop role tandem_${name}`)
    await admin.end()
  })
  const [one, other] = clients
  for (const client of clients) {
    client.on('error', () => {})
    await client.connect()
  }
  for (const client of [one, other]) {
    await client!.query(
      'create table outbox (seq bigint generated always as identity); create table things (name text); insert into things values ($$before$$)'
    )
  }

  const env = {
    ...process.env,
    BACKUP_DIR: backups,
    PGHOST: own.hostname,
    PGPORT: own.port,
    PGUSER: own.username,
    PGPASSWORD: own.password,
    PGDATABASE: database
  }
  await run('sh', [path.join(folder, 'backup.sh'), 'once'], { env })
  const [dump = ''] = (await readdir(backups)).filter((file) => file.endsWith('.dump'))
  t.match(await readFile(path.join(backups, 'metrics/backup.prom'), 'utf8'), /_timestamp_seconds \d{10}\n/)

  for (const client of [one, other]) await client!.query('update things set name = $$after$$')
  const restore = async (...schemas: string[]) =>
    await run('sh', [path.join(folder, 'restore-schemas.sh'), path.join(backups, dump), ...schemas], { env })
  const names = async () => [
    (await one!.query('select name from things')).rows[0]?.name,
    (await other!.query('select name from things')).rows[0]?.name
  ]

  await t.rejects(restore(first, 'missing'), 'a schema without a role fails all')
  t.strictSame(await names(), ['after', 'after'])
  await restore(first)
  t.strictSame(await names(), ['before', 'after'])
  const { rows: [row] } = await one!.query<{ seq: string }>('insert into outbox default values returning seq')
  t.ok(Number(row?.seq) > 1e15, 'events continue ahead of all numbers that consumers have seen')
  await one!.query('create table more ()')
})
