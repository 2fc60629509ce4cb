import { randomUUID } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import type { FailedMessageTables } from '@tandem/bus-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { createServer } from '@tandem/http-kit'
import { silentLog, testKeys } from '@tandem/http-kit/testing'
import { appendAudit, findAuditFault, maintainAudit, readAuditHead } from './audit.ts'
import { runAudit, serveOperators } from './serve.ts'
import type { OperatorTables } from './tables.ts'
import { checkOperatorRoutes, operatorBearer } from './testing.ts'

const { db, url } = await testDatabase<OperatorTables & FailedMessageTables>(t, import.meta.dirname)
const app = await createServer({ name: 'test', log: silentLog, keys: testKeys })
t.teardown(() => app.close())
await serveOperators(app, db)
app.get('/for-the-app', { schema: { hide: true } }, async () => ({ success: true }))

const send = async (method: 'GET' | 'POST' | 'DELETE', path: string, headers = operatorBearer()) => {
  const response = await app.inject({ method, url: path, headers })
  return { status: response.statusCode, ...response.json() }
}
const entries = async () => await db.selectFrom('audit_entries').selectAll().orderBy('number').execute()
const givenDeadLetter = async () => {
  const key = randomUUID()
  const message = {
    key,
    stream: 'social',
    type: 'social.post.liked.v1',
    message: '{}',
    attempts: 10,
    error: 'Error: no'
  }
  await db.insertInto('failed_messages')
    .values({ ...message, traceparent: null, request_id: null, next_attempt_at: null, parked_at: new Date() }).execute()
  return key
}

t.test('nothing below /operator is open, and other routes refuse operators', async (t) => {
  await checkOperatorRoutes(t, app)
  t.match(await send('GET', '/for-the-app'), { status: 401, code: 'INVALID_ACCESS_TOKEN' })
  t.match(await send('GET', '/for-the-app', { authorization: '' }), { status: 401 })
  const careless = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  t.teardown(() => careless.close())
  await serveOperators(careless, db)
  t.throws(() => careless.get('/operator/open', async () => 'hello'), { message: /forOperators/ })
  t.same(await entries(), [], 'who is refused leaves no entry')
})

t.test('operators see the health of a service, and its dead letters', async (t) => {
  const [one, other] = [await givenDeadLetter(), await givenDeadLetter()]
  t.match(await send('GET', '/operator/health', operatorBearer('SUPPORT')), {
    status: 200,
    data: { status: 'ready', down: [], failedMessages: 2, deadLetters: 2 }
  })
  t.match((await send('GET', '/operator/dead-letters')).data.deadLetters, [{ key: one, error: 'Error: no' }, {}])
  t.match(await send('POST', `/operator/dead-letters/${one}/replay`), { status: 200 })
  const due = await db.selectFrom('failed_messages').where('next_attempt_at', '<=', sql<Date>`now()`).select('key')
    .execute()
  t.same(due, [{ key: one }])
  t.match(await send('DELETE', `/operator/dead-letters/${other}`), { status: 200 })
  t.match(await send('DELETE', `/operator/dead-letters/${other}`), { status: 404, code: 'NOT_FOUND' })
  t.match(await send('POST', '/operator/dead-letters/unknown/replay'), { status: 404, code: 'NOT_FOUND' })

  await sql`
    insert into failed_messages (key, stream, type, message, attempts, error, parked_at)
    select number, 'social', 'social.post.liked.v1', '{}', 10, 'Error: no', now() + number * interval '1 second'
    from generate_series(1, 600) as number`.execute(db)
  const { data: { deadLetters } } = await send('GET', '/operator/dead-letters')
  t.match([deadLetters.length, deadLetters[0].key, deadLetters.at(-1).key], [500, one, '499'], 'the oldest 500')
  await sql`delete from failed_messages where key ~ '^[0-9]{1,3}$'`.execute(db)
})

t.test('calls are counted by operation and version, and nobody can fill the table', async (t) => {
  const counted = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  await serveOperators(counted, db)
  const config = { public: true }
  const schema = {
    operationId: 'getThing',
    deprecated: true,
    'x-deprecated-since': '2026-11-01',
    'x-sunset': '2027-06-01'
  }
  counted.get('/thing', { config, schema }, async () => ({ success: true }))
  counted.get('/broken', { config, schema: { operationId: 'getBroken' } }, async () => {
    throw new Error('broken')
  })
  const call = async (url: string, platform: string, version: string, times = 1) => {
    for (let each = 0; each < times; each++) {
      await counted.inject({ url, headers: { 'x-platform': platform, 'x-app-version': version } })
    }
  }
  await call('/thing', 'ios', '2.4.0', 3)
  await call('/thing', 'Windows', '1.x')
  await counted.inject('/thing')
  await call('/broken', 'android', '1.0')
  for (let version = 0; version < 120; version++) await call('/thing', 'web', `9.${version}`)
  await counted.close()

  const { data: { operations } } = await send('GET', '/operator/calls', operatorBearer('SUPPORT'))
  t.match(operations, [{ operation: 'getThing', calls: 125, errors: 0 }, {
    operation: 'getBroken',
    calls: 1,
    errors: 1
  }])
  const { data: { versions } } = await send('GET', '/operator/calls/getThing')
  const callsOf = (platform: string, appVersion: string) =>
    versions.find((each: { platform: string, appVersion: string }) =>
      each.platform === platform && each.appVersion === appVersion
    )?.calls
  t.equal(callsOf('ios', '2.4.0'), 3)
  t.equal(callsOf('unknown', 'unknown'), 2)
  t.ok(callsOf('web', 'other') >= 20)
  t.ok(versions.length <= 103)
})

t.test('counts of several processes add up, and are deleted after 90 days', async (t) => {
  await sql`delete from operation_calls`.execute(db)
  const schema = { operationId: 'getSame' }
  for (let process = 0; process < 2; process++) {
    const one = await createServer({ name: 'test', log: silentLog, keys: testKeys })
    await serveOperators(one, db)
    one.get('/same', { config: { public: true }, schema }, async () => ({ success: true }))
    await one.inject('/same')
    await one.close()
  }
  const calls = async () =>
    (await db.selectFrom('operation_calls').select('calls').execute()).map(({ calls }) => Number(calls))
  t.same(await calls(), [2])
  await sql`update operation_calls set calls = 2e9`.execute(db)
  await sql`insert into operation_calls select day - 1, operation, platform, app_version, calls, errors from operation_calls`
    .execute(db)
  const { data: { operations } } = await send('GET', '/operator/calls')
  t.match(operations, [{ operation: 'getSame', calls: 4e9 }], 'also above what 32 bits hold')
  t.match((await send('GET', '/operator/calls/getSame')).data, { versions: [{ calls: 4e9 }] })
  await sql`update operation_calls set day = current_date - 91 - (current_date - day)`.execute(db)
  await runAudit({ db })
  t.same(await calls(), [])
})

t.test('each request leaves an entry before it is answered, reading too', async (t) => {
  const before = (await entries()).length
  const [id, key] = [randomUUID(), await givenDeadLetter()]
  await send('DELETE', `/operator/dead-letters/${key}?reason=a%20test`, operatorBearer('ADMIN', { id }))
  const [entry] = (await entries()).slice(before)
  t.match(entry, {
    staff_id: id,
    role: 'ADMIN',
    action: 'DELETE /operator/dead-letters/:key',
    subject: key,
    reason: 'a test',
    request_id: String
  })
  t.match((await send('GET', '/operator/audit?limit=1')).data, {
    entries: [{ action: 'GET /operator/audit' }],
    nextCursor: String
  })
  const { data: { entries: older } } = await send('GET', `/operator/audit?limit=1&before=${entry!.number + 1}`)
  t.match(older, [{ number: entry!.number, staffId: id }])

  await sql`alter table audit_head add constraint broken check (false) not valid`.execute(db)
  const kept = await givenDeadLetter()
  t.match(await send('DELETE', `/operator/dead-letters/${kept}`), { status: 500 })
  await sql`alter table audit_head drop constraint broken`.execute(db)
  t.ok(
    await db.selectFrom('failed_messages').where('key', '=', kept).select('key').executeTakeFirst(),
    'without an entry nothing happens'
  )
})

t.test('entries at the same moment form one chain', async (t) => {
  await Promise.all(Array.from({ length: 40 }, async () => await send('GET', '/operator/health')))
  const numbers = (await entries()).map(({ number }) => number)
  t.same(numbers, numbers.map((_, index) => index + 1))
  t.equal(await findAuditFault(db), undefined)
})

t.test('entries are in the order of their times, also if a transaction that began earlier appends later', async (t) => {
  const entry = { operator: { id: randomUUID(), role: 'ADMIN' }, subject: null, accountId: null, reason: null } as const
  await db.transaction().execute(async (trx) => {
    await sql`select now()`.execute(trx)
    await appendAudit(db, { ...entry, action: 'of another', requestId: randomUUID() })
    await appendAudit(trx, { ...entry, action: 'of the transaction', requestId: randomUUID() })
  })
  const times = (await entries()).map(({ created_at }) => created_at)
  t.same(times, times.toSorted((one, other) => one.getTime() - other.getTime()))
})

t.test('nobody can change, delete or truncate entries', async (t) => {
  const { rows: [partition] } = await sql<{ name: string }>`
    select tableoid::regclass::text as name from audit_entries limit 1`.execute(db)
  for (
    const statement of [
      'update audit_entries set reason = null',
      'delete from audit_entries',
      'truncate audit_entries',
      `update ${partition!.name} set reason = null`,
      `delete from ${partition!.name}`,
      `truncate ${partition!.name}`
    ]
  ) await t.rejects(sql.raw(statement).execute(db), { message: /the audit cannot be changed/ }, statement)
})

t.test('a change with the rights of the owner is found', async (t) => {
  const head = await readAuditHead(db)
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-heads-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(path.join(folder, 'head.json'), JSON.stringify(head))
  const verify = async (...folder: string[]) =>
    await new Promise<string>((resolve) => {
      execFile(process.execPath, [path.join(import.meta.dirname, 'audit-cli.ts'), 'verify', ...folder], {
        env: { ...process.env, DATABASE_URL: url }
      }, (_error, out) => resolve(out.trim()))
    })
  t.equal(await verify(folder), 'The audit is complete.')

  await sql`alter table audit_entries disable trigger user`.execute(db)
  const asOwner = async (statement: string) => await sql.raw(statement).execute(db)
  await asOwner("update audit_entries set reason = 'x' where number = 3")
  t.match(await findAuditFault(db), /entry 3 was changed/)
  await asOwner('update audit_entries set reason = null where number = 3')
  await asOwner('create table away as select * from audit_entries where number = 5')
  await asOwner('delete from audit_entries where number = 5')
  t.match(await findAuditFault(db), /entry 6 does not follow entry 4/)
  await asOwner('insert into audit_entries select * from away')
  t.equal(await findAuditFault(db, [head]), undefined)
  const last = (await entries()).length
  await asOwner(`delete from audit_entries where number = ${last}`)
  t.match(await verify(), new RegExp(`entries after ${last - 1} are missing`))
  await asOwner(
    'update audit_head set number = number - 1, hash = (select hash from audit_entries order by number desc limit 1)'
  )
  t.equal(await findAuditFault(db), undefined, 'a shortened chain is consistent')
  t.match(await verify(folder), /are missing/, 'but lacks the stored head')
})

t.test('months are created ahead, and dropped after 24', async (t) => {
  await sql`select create_audit_partition('2020-02-01')`.execute(db)
  await maintainAudit(db)
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entries'::regclass order by 1`
    .execute(db)
  t.notOk(rows.some(({ name }) => name.includes('2020')))
  t.equal(rows.length, 5, 'the last month, this one, and three ahead')
})

t.test('the head is stored, and the next steps run, also if partitions cannot be created', async (t) => {
  const stored: unknown[] = []
  await sql`insert into operator_reads (staff_id, hour, people) values (${randomUUID()}, now() - interval '2 days', '{}')`
    .execute(db)
  await sql`alter function create_audit_partition rename to away`.execute(db)
  await t.rejects(runAudit({ db, storeHead: async (_day, head) => stored.push(head) }), {
    message: 'the step "maintain the audit" failed'
  })
  await sql`alter function away rename to create_audit_partition`.execute(db)
  t.equal(stored.length, 1)
  t.same(await db.selectFrom('operator_reads').selectAll().execute(), [])
})
