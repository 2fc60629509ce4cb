// It waits for timeouts of up to three seconds.
import { createServer, connect as dial, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { register } from 'prom-client'
import t, { type Test } from 'tap'
import { endsWithin } from '@tandem/test-kit'
import { findPrimary, splitHosts } from './hosts.ts'
import { connect } from './index.ts'

const server = process.env['TEST_DATABASE_URL'] ?? ''
const log = { warn () {} }

interface Things {
  things: { id: number, name: string }
}

function open (t: Test, url = server, maxConnections = 2) {
  const db = connect<Things>(url, { log, maxConnections })
  t.teardown(() => db.destroy())
  return db
}

/** Postgres behind a proxy that can stop forwarding. */
async function wire (t: Test) {
  const { hostname, port } = new URL(server)
  const sockets: Socket[] = []
  const between = createServer((client) => {
    const postgres = dial(Number(port), hostname)
    sockets.push(client, postgres)
    client.pipe(postgres).pipe(client)
    for (const socket of [client, postgres]) socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => {
    between.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    between.close()
  })
  const url = new URL(server)
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`
  return {
    url: url.href,
    close: () => between.close(),
    hold: () => sockets.forEach((socket) => socket.pause()),
    cut: () => sockets.splice(0).forEach((socket) => socket.destroy())
  }
}

t.test('a statement with values is prepared once for a connection', async (t) => {
  const db = open(t, server, 1)
  for (const number of [1, 2, 3]) await sql`select ${number}::int + 41 as sum`.execute(db)
  const { rows } = await sql<{ statement: string, calls: number }>`
    select statement, (generic_plans + custom_plans)::int as calls from pg_prepared_statements where statement like '%+ 41%' and statement not like ${'%pg_prepared%'}`
    .execute(db)
  t.same(rows, [{ statement: 'select $1::int + 41 as sum', calls: 3 }])
})

t.test('a query without values is prepared, too, and texts of several statements still run', async (t) => {
  const db = open(t, server, 1)
  for (let call = 0; call < 3; call++) await sql`select 2 + 41 as sum`.execute(db)
  await sql`select 1 + 41; select 3 + 41`.execute(db)
  const { rows } = await sql<{ statement: string, calls: number }>`
    select statement, (generic_plans + custom_plans)::int as calls from pg_prepared_statements where statement like '%+ 41%' and statement not like ${'%pg_prepared%'}`
    .execute(db)
  t.same(rows, [{ statement: 'select 2 + 41 as sum', calls: 3 }])
})

t.test('a warning names a statement when a connection has prepared all that it keeps, once', async (t) => {
  const warnings: object[] = []
  const db = connect<Things>(server, { log: { warn: (details) => void warnings.push(details) }, maxConnections: 1 })
  t.teardown(() => db.destroy())
  for (let number = 1; number < 500; number++) await sql`select ${0}::int + ${sql.lit(number)}`.execute(db)
  t.strictSame(warnings, [])
  for (const number of [500, 501]) await sql`select ${0}::int + ${sql.lit(number)}`.execute(db)
  t.strictSame(warnings, [{ statement: 'select $1::int + 500' }])
})

t.test('a limit is a literal and not a parameter, because Postgres plans badly for an unknown limit', async (t) => {
  const db = open(t)
  const query = db.selectFrom('things').select('id').where('name', '=', 'x').limit(20).compile()
  t.match(query, { sql: /limit 20$/, parameters: ['x'] })
})

t.test('a count comes as a number', async (t) => {
  t.same((await sql`select count(*) as count from generate_series(1, 3)`.execute(open(t))).rows, [{ count: 3 }])
})

t.test('a query waits for a connection', async (t) => {
  const db = open(t, server, 1)
  const slow = sql`select pg_sleep(1.6)`.execute(db)
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
  await slow
})

t.test('a query without a connection within two seconds fails and is counted', async (t) => {
  const db = open(t, server, 1)
  // Each statement alone may take two seconds.
  const slow = db.transaction().execute(async (trx) => {
    await sql`select pg_sleep(1.6)`.execute(trx)
    await sql`select pg_sleep(1.6)`.execute(trx)
  })
  const refused = t.rejects(sql`select 1`.execute(db), /timeout exceeded when trying to connect/)
  t.ok(await endsWithin(2_500, refused))
  const waits = await register.getSingleMetricAsString('postgres_pool_refusals_total')
  t.match(waits, /postgres_pool_refusals_total [1-9]/)
  t.match(await register.getSingleMetricAsString('postgres_pool_connections'), /state="busy"} 1/)
  await slow
})

t.test('a statement that takes too long is cancelled, and its connection stays usable', async (t) => {
  const db = open(t, server, 1)
  await t.rejects(sql`select pg_sleep(10)`.execute(db), { code: '57014' })
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
})

t.test('a silent connection is dropped after three seconds and not reused', async (t) => {
  const { url, hold } = await wire(t)
  const db = open(t, url, 1)
  await sql`select 1`.execute(db)
  hold()
  t.ok(await endsWithin(3_500, t.rejects(sql`select ${1}::int`.execute(db), /timeout/i)))
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }], 'over a new one')
})

t.test('idle connections that end affect nothing else', async (t) => {
  const { url, cut } = await wire(t)
  const db = open(t, url)
  await sql`select 1`.execute(db)
  cut()
  await sleep(50)
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
})

t.test('a connection that ends inside a transaction fails that transaction and nothing else', async (t) => {
  const [db, other] = [open(t), open(t)]
  const transaction = db.transaction().execute(async (trx) => {
    const { rows: [backend] } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    await sql`select pg_terminate_backend(${backend!.pid}, 5000)`.execute(other)
    await sleep(50)
    await sql`select 1`.execute(trx)
  })
  await t.rejects(transaction, /connection/i)
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
})

t.test('a connection to a server that became read-only is closed', async (t) => {
  const db = open(t, server, 1)
  await sql`create table if not exists public.probes (id int)`.execute(db)
  t.teardown(() => sql`drop table public.probes`.execute(db))
  await sql`set session characteristics as transaction read only`.execute(db)
  await t.rejects(sql`insert into public.probes values (${1}::int)`.execute(db), { code: '25006' })
  await sql`insert into public.probes values (${1}::int)`.execute(db)
})

/** The URL of the test server with these hosts. */
function withHosts (url: string, ...hosts: string[]) {
  const { host } = new URL(url)
  return url.replace(host, hosts.join())
}

t.test('of several hosts it connects to one that responds, and to another when that one goes away', async (t) => {
  const { url, cut, close } = await wire(t)
  const [through, direct] = [new URL(url).host, new URL(server).host]
  const db = open(t, withHosts(server, '127.0.0.1:1', through, direct), 1)
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }], 'the first host is down')
  close()
  cut()
  await sleep(50)
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }], 'now over the third')
})

t.test('of several hosts it uses only one that accepts writes', async (t) => {
  const [admin, host] = [open(t), new URL(server).host]
  await sql`create role reader login password 'secret'`.execute(admin)
  await sql`alter role reader set default_transaction_read_only = on`.execute(admin)
  t.teardown(() => sql`drop role reader`.execute(admin))
  const url = new URL(server)
  url.username = 'reader'
  url.password = 'secret'
  const db = open(t, withHosts(url.href, host, host), 1)
  await t.rejects(sql`select 1`.execute(db), { code: '25006' })
  await sql`alter role reader reset default_transaction_read_only`.execute(admin)
  t.same((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
})

t.test('migrations find the host that accepts writes', async (t) => {
  const { host } = new URL(server)
  t.equal(await findPrimary(withHosts(server, '127.0.0.1:1', host)), server)
  await t.rejects(findPrimary(withHosts(server, '127.0.0.1:1', '127.0.0.1:1')), { code: 'ECONNREFUSED' })
  t.strictSame(splitHosts('postgres://u:p%40@a:1,b/name?x=y'), [
    'postgres://u:p%40@a:1/name?x=y',
    'postgres://u:p%40@b/name?x=y'
  ])
})
