import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { migrate } from './migrate.ts'
import { provision } from './provision.ts'
import { testSchema } from './testing.ts'

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

t.test('migrations run in order, each once, also if several machines start at the same time', async (t) => {
  const { folder, add } = await service(t, {
    '002-fill.sql': 'insert into things values (1)',
    '001-make.sql': 'create table things (id int)'
  })
  const url = await testSchema(t, async () => {})
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
  const url = await testSchema(t, async () => {})
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

t.test('a migration that ran and is now missing, before a later one, is an error', async (t) => {
  const { folder } = await service(t, {
    '001-make.sql': 'create table things (id int)',
    '002-more.sql': 'create table others (id int)'
  })
  const url = await testSchema(t, async () => {})
  await migrate(url, folder)
  await rm(path.join(folder, 'migrations/001-make.sql'))
  await t.rejects(migrate(url, folder), { cause: { message: /001-make is missing/ } })
})

t.test('a migration that was edited after it ran is an error that names it', async (t) => {
  const { folder, add } = await service(t, { '001-make.sql': 'create table things (id int)' })
  const url = await testSchema(t, async () => {})
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
  const url = await testSchema(t, async () => {})
  await t.rejects(migrate(url, empty.folder), { message: 'migration 002-later.sql is empty' })
  await t.rejects(migrate(url, double.folder), {
    message: 'migrations 001-make.sql and 001-other.sql have the same number'
  })
  t.same(await query(url, "select to_regclass('things') as found"), [{ found: null }])
})

t.test('the previous version does not change a schema that a later version has migrated', async (t) => {
  const { folder, add } = await service(t, { '001-make.sql': 'create table things (id int)' })
  const url = await testSchema(t, async () => {})
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
