import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { until } from '@tandem/test-kit'
import { migrate } from './migrate.ts'
import { provision } from './provision.ts'
import { testDatabase } from './testing.ts'

async function service (t: Test, migrations: Record<string, string>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-migrate-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await mkdir(path.join(folder, 'migrations'))
  await writeFile(path.join(folder, 'package.json'), '{}')
  const add = async (name: string, text: string) => await writeFile(path.join(folder, 'migrations', name), text)
  for (const [name, text] of Object.entries(migrations)) await add(name, text)
  return { folder, add }
}

async function query (url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

// Other files drop schemas, at which Kysely fails while it reads the catalogue, and keep transactions open, for which a
// concurrent build waits.
const { url: database } = await testDatabase(t, (await service(t, {})).folder)
let schemas = 0

async function emptySchema () {
  const name = `empty_${++schemas}`
  await query(database, `create schema ${name}`)
  const url = new URL(database)
  url.searchParams.set('options', `-c search_path=${name}`)
  return url.href.replaceAll('+', '%20')
}

t.test('migrations run in order, each once, also if several machines start at the same time', async (t) => {
  const { folder, add } = await service(t, {
    '002-fill.sql': 'insert into things values (1)',
    '001-make.sql': 'create table things (id int)'
  })
  const url = await emptySchema()
  await Promise.all([migrate(url, folder), migrate(url, folder), migrate(url, folder)])
  t.same(await query(url, 'select id from things'), [{ id: 1 }])
  await add('003-more.sql', 'insert into things values (2); insert into things values (3)')
  await migrate(url, folder)
  t.same(await query(url, 'select count(*)::int as count from things'), [{ count: 3 }])
})

t.test('a migration that fails is rolled back and named, and runs once it is corrected', async (t) => {
  const { folder, add } = await service(t, {
    '001-make.sql': 'create table things (id int)',
    '002-wrong.sql': 'create table others (id int); select nonsense'
  })
  const url = await emptySchema()
  await t.rejects(migrate(url, folder), { message: /\/002-wrong failed$/, cause: { message: /nonsense/ } })
  t.same(
    await query(
      url,
      "select table_name from information_schema.tables where table_schema = current_schema() and table_name in ('things', 'others')"
    ),
    []
  )
  await add('002-wrong.sql', 'create table others (id int)')
  await migrate(url, folder)
  t.same(await query(url, 'select * from others'), [])
})

t.test('a connection without a schema is an error', async (t) => {
  const { folder } = await service(t, { '001-make.sql': 'create table things (id int)' })
  const url = (await emptySchema()).replace(/empty_\d+/, 'missing')
  await t.rejects(migrate(url, folder), { code: '3F000' })
})

t.test('a migration that ran and is now missing, before a later one, is an error', async (t) => {
  const { folder } = await service(t, {
    '001-make.sql': 'create table things (id int)',
    '002-more.sql': 'create table others (id int)'
  })
  const url = await emptySchema()
  await migrate(url, folder)
  await rm(path.join(folder, 'migrations/001-make.sql'))
  await t.rejects(migrate(url, folder), { cause: { message: /001-make is missing/ } })
})

t.test('a migration that was edited after it ran is an error that names it', async (t) => {
  const { folder, add } = await service(t, { '001-make.sql': 'create table things (id int)' })
  const url = await emptySchema()
  await migrate(url, folder)
  await add('001-make.sql', 'create table things (id bigint)')
  await add('002-more.sql', 'create table others (id int)')
  await t.rejects(migrate(url, folder), { message: /\/001-make was edited after it ran here/ })
  t.same(await query(url, "select to_regclass('others') as found"), [{ found: null }])
})

t.test('a migration that is empty, or has the number of another, is an error that names it', async (t) => {
  const empty = await service(t, {
    '001-make.sql': 'create table things (id int)',
    '002-later.sql': '-- to be written\n\n'
  })
  const double = await service(t, {
    '001-make.sql': 'create table things (id int)',
    '001-other.sql': 'create table others (id int)'
  })
  const url = await emptySchema()
  await t.rejects(migrate(url, empty.folder), { message: 'migration 002-later.sql is empty' })
  await t.rejects(migrate(url, double.folder), {
    message: 'migrations 001-make.sql and 001-other.sql have the same number'
  })
  t.same(await query(url, "select to_regclass('things') as found"), [{ found: null }])
})

const concurrent = `-- Without a transaction: it is large.
create index concurrently if not exists things_by_id on things (id) where id > 0;
drop index concurrently if exists things_by_note;
`
const isValid = async (url: string, index: string) =>
  (await query(url, `select indisvalid as valid from pg_index where indexrelid = to_regclass('${index}')`))[0]
    ?.['valid']

/** A table with an index, and a transaction that has written to it, for which a concurrent build waits. */
async function givenWrittenTable (t: Test) {
  const { folder, add } = await service(t, {
    '001-make.sql': 'create table things (id int, note text); create index things_by_note on things (note)'
  })
  const url = await emptySchema()
  await migrate(url, folder)
  const writer = new pg.Client({ connectionString: url })
  await writer.connect()
  t.teardown(async () => await writer.end())
  await writer.query('begin; insert into things values (1)')
  await add('002-index.sql', concurrent)
  const untilBuilding = async () => await until(async () => await isValid(url, 'things_by_id') === false)
  return { folder, add, url, writer, untilBuilding }
}

t.test('an index built without a transaction stops no writes, also if several machines migrate at once', async (t) => {
  const { folder, add, url, writer, untilBuilding } = await givenWrittenTable(t)
  await add('003-more.sql', 'alter table things add more text')
  const [other, otherUrl] = [
    await service(t, { '001-make.sql': 'create table x ()' }),
    await emptySchema()
  ]
  const migrations = Promise.all([migrate(url, folder), migrate(url, folder), migrate(url, folder)])
  await untilBuilding()
  await query(url, "set lock_timeout = '1s'; insert into things values (2)")
  await migrate(otherUrl, other.folder)
  // Longer than Postgres takes to find a deadlock.
  await sleep(1_500)
  t.equal(await isValid(url, 'things_by_id'), false, 'it is still being built')
  await writer.query('commit')
  await migrations
  t.equal(await isValid(url, 'things_by_id'), true)
  t.equal(await isValid(url, 'things_by_note'), undefined)
  t.same(await query(url, 'select count(more) from things'), [{ count: '0' }], 'the later migration has run')
})

t.test('an index whose build died is built again, and only then has the migration run', async (t) => {
  const { folder, url, writer, untilBuilding } = await givenWrittenTable(t)
  const migration = migrate(url, folder).catch((error: Error) => error)
  await untilBuilding()
  await query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query like '%exists things_by_id on%'"
  )
  t.match(await migration, { message: /\/002-index failed$/, cause: { code: '57P01' } })
  t.equal(await isValid(url, 'things_by_id'), false)
  await writer.query('commit')
  await migrate(url, folder)
  t.equal(await isValid(url, 'things_by_id'), true)
  t.equal(await isValid(url, 'things_by_note'), undefined)
})

t.test('a process that died before it recorded that its indexes are built, or dropped, does no harm', async (t) => {
  const { folder, add, url, writer } = await givenWrittenTable(t)
  await writer.query('commit')
  await query(url, 'drop index things_by_note; create index things_by_id on things (id) where id > 0')
  await add('003-wrong.sql', 'select nonsense')
  await t.rejects(migrate(url, folder), { message: /\/003-wrong failed$/ })
  t.equal(await isValid(url, 'things_by_id'), true)
  await add('003-wrong.sql', 'alter table things add more text')
  await migrate(url, folder)
  t.same(await query(url, 'select more from things'), [{ more: null }])
  await add('002-index.sql', `${concurrent}-- edited`)
  await t.rejects(migrate(url, folder), { message: /\/002-index was edited after it ran here/ })
})

t.test('what cannot be repeated is refused without a transaction', async (t) => {
  const url = await emptySchema()
  const first = '-- Without a transaction: it is large.\n'
  for (const statement of ['create index concurrently a on things (id)', 'create index a on things (id)', 'select 1']) {
    const { folder } = await service(t, { '001-make.sql': `${concurrent};${statement}` })
    await t.rejects(migrate(url, folder), { message: /^migration 001-make.sql: without a transaction, indexes are/ })
  }
  const { folder } = await service(t, { '001-make.sql': `${first}-- nothing` })
  await t.rejects(migrate(url, folder), { message: 'migration 001-make.sql is empty' })
})

t.test('the previous version does not change a schema that a later version has migrated', async (t) => {
  const { folder, add } = await service(t, { '001-make.sql': 'create table things (id int)' })
  const url = await emptySchema()
  await migrate(url, folder)
  await add('002-later.sql', 'alter table things add note text')
  await migrate(url, folder)
  await rm(path.join(folder, 'migrations/002-later.sql'))
  await migrate(url, folder)
  await query(url, "insert into things (id, note) values (1, 'kept')")

  // The later version is rolled out again and continues.
  await add('002-later.sql', 'alter table things add note text')
  await add('003-last.sql', 'insert into things (id) values (2)')
  await migrate(url, folder)
  t.same(await query(url, 'select id, note from things order by id'), [{ id: 1, note: 'kept' }, { id: 2, note: null }])
})

t.test('a service gets a role with access to its own schema only, and provisioning it again changes the password', async (t) => {
  const admin = process.env['TEST_DATABASE_URL'] ?? ''
  const name = `kit${process.pid}`
  t.teardown(async () => {
    for (const each of [`${name}a`, `${name}b`]) {
      await query(admin, `drop schema if exists ${each} cascade; drop role if exists tandem_${each}`)
    }
  })
  const [first, other] = await Promise.all([provision(admin, `${name}a`, 'one'), provision(admin, `${name}b`, 'two')])
  await query(first, 'create table secrets (id int)')
  await t.rejects(query(other, `select * from ${name}a.secrets`), { code: '42501' })
  await t.rejects(query(other, 'create table public.mine (id int)'), { code: '42501' })

  const again = await provision(admin, `${name}a`, "it's new")
  t.same(await query(again, 'select * from secrets'), [])
  await t.rejects(query(first, 'select 1'), { code: '28P01' })
})

t.test('a service is provisioned on the first of several hosts that accepts writes, and gets the URL of all', async (t) => {
  const admin = new URL(process.env['TEST_DATABASE_URL'] ?? '')
  const name = `hosts${process.pid}`
  t.teardown(async () => await query(admin.href, `drop schema if exists ${name}; drop role if exists tandem_${name}`))
  const hosts = `127.0.0.1:1,${admin.host}`
  const url = await provision(admin.href.replace(admin.host, hosts), name, 'a p@ss:word')
  t.equal(url, `postgres://tandem_${name}:a%20p%40ss%3Aword@${hosts}${admin.pathname}`)
  t.match(await query(url.replace(hosts, admin.host), 'select current_schema() as name'), [{ name }])
})
