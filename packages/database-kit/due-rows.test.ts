import { randomUUID } from 'node:crypto'
import { sql, type Generated } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { connect } from './connect.ts'
import { findNextDue, workDue, workLocked } from './due-rows.ts'
import { testSchema } from './testing.ts'

interface Tables {
  tasks: { id: string, due_at: Generated<Date>, attempts: Generated<number>, status: Generated<string> }
}

const url = await testSchema(t, async (url) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create table tasks (id uuid primary key, due_at timestamptz not null default now(),
    attempts integer not null default 0, status text not null default 'open' check (status <> 'refused'))`)
  await client.end()
})
const log = { warn () {} }
const db = connect<Tables>(url, { log, timeoutFactor: 10 })
t.teardown(() => db.destroy())
t.afterEach(async () => void await db.deleteFrom('tasks').execute())

async function givenTasks (count: number) {
  const ids = Array.from({ length: count }, () => randomUUID())
  await db.insertInto('tasks').values(ids.map((id) => ({ id }))).execute()
  return ids
}
const setStatus = async (id: string, status: string) =>
  await db.updateTable('tasks').set({ status }).where('id', '=', id).execute()
const statuses = async () =>
  (await db.selectFrom('tasks').select('status').orderBy('status').execute()).map(({ status }) => status)
const find = async (id: string) =>
  await db.selectFrom('tasks').where('id', '=', id)
    .select(['attempts', 'status', sql<number>`round(extract(epoch from due_at - now()))::int`.as('dueInSeconds')])
    .executeTakeFirst()
const becomeDue = async () => await db.updateTable('tasks').set({ due_at: sql`now()` }).execute()

const doTasks = async (work: (id: string) => Promise<unknown>, { leaseSeconds = 30 } = {}) =>
  await workDue(db, 'tasks', {
    key: 'id',
    dueAt: 'due_at',
    where: sql`status = 'open'`,
    leaseSeconds,
    retrySeconds: 10,
    maxRetrySeconds: 25,
    maxAttempts: 4,
    log,
    work: async ({ id }) => await work(id),
    giveUp: async ({ id }) => await setStatus(id, 'given up')
  })
const fail = async () => await Promise.reject(new Error('away'))

t.test('a release that adds a column stops the workers of the one before for one statement', async (t) => {
  const work = async (id: string) => await setStatus(id, 'done')
  await givenTasks(1)
  await doTasks(work)
  await sql`alter table tasks add column note text`.execute(db)
  await givenTasks(2)
  await t.rejects(doTasks(work), { code: '0A000' })
  await doTasks(work)
  t.same(await statuses(), ['done', 'done', 'done'])
})

t.test('several workers share the due rows, and each row is done once', async (t) => {
  const ids = await givenTasks(30)
  const done: string[] = []
  const work = async (id: string) => {
    done.push(id)
    await setStatus(id, 'done')
  }
  const counts = await Promise.all([doTasks(work), doTasks(work), doTasks(work)])
  t.equal(counts.reduce((sum, count) => sum + count), 30)
  t.same(done.sort(), ids.sort())
  t.equal(await doTasks(work), 0)
})

t.test('work that fails keeps no other row waiting, backs off and is given up', async (t) => {
  const [broken, other] = await givenTasks(2)
  const work = async (id: string) => await (id === broken ? fail() : setStatus(id, 'done'))
  t.equal(await doTasks(work), 2)
  t.match(await find(other!), { status: 'done' })
  t.match(await find(broken!), { attempts: 1, status: 'open', dueInSeconds: 10 })
  t.equal(await doTasks(work), 0, 'not at once')
  for (const dueInSeconds of [20, 25]) {
    await becomeDue()
    await doTasks(work)
    t.match(await find(broken!), { status: 'open', dueInSeconds })
  }
  await becomeDue()
  await doTasks(work)
  t.match(await find(broken!), { attempts: 4, status: 'given up' })
})

t.test('the row of a worker that died is due when its lease ends, and given up after as many attempts', async (t) => {
  const [id] = await givenTasks(1)
  let calls = 0
  for (let death = 1; death <= 4; death++) {
    await becomeDue()
    void doTasks(async () => {
      calls++
      await new Promise<never>(() => {})
    })
    while (calls < death) await find(id!)
    t.equal(await doTasks(fail), 0, 'it has the lease')
    t.match(await find(id!), { attempts: death, dueInSeconds: 30 })
  }
  await becomeDue()
  t.equal(await doTasks(async () => t.fail('it is not tried again')), 1)
  t.match(await find(id!), { status: 'given up' })
})

t.test('a failure of a worker whose lease has ended changes nothing', async (t) => {
  const [id] = await givenTasks(1)
  let isFirst = true
  await doTasks(async () => {
    if (!isFirst) return await setStatus(id!, 'done')
    isFirst = false
    await becomeDue()
    await doTasks(async () => await db.updateTable('tasks').set({ due_at: sql`now() + interval '1 hour'` }).execute())
    await fail()
  })
  t.match(await find(id!), { attempts: 2, status: 'open', dueInSeconds: 3_600 })
})

t.test('the next due row is the earliest of all, and an empty table has none', async (t) => {
  await db.deleteFrom('tasks').execute()
  t.equal(await findNextDue(db, 'tasks', 'due_at'), undefined)
  const times = ['2026-03-02', '2026-03-01', '2026-03-03'].map((day) => new Date(day))
  await db.insertInto('tasks').values(times.map((due_at) => ({ id: randomUUID(), due_at }))).execute()
  t.strictSame(await findNextDue(db, 'tasks', 'due_at'), times[1])
  await db.deleteFrom('tasks').execute()
})

t.test('rows of one transaction: one that fails stays due and undoes only its own changes', async (t) => {
  const ids = await givenTasks(25)
  const broken = new Set<string>([ids[3]!, ids[20]!])
  const run = async () =>
    await workLocked(db, {
      lock: async (trx, failedIds) =>
        await trx.selectFrom('tasks').where('status', '=', 'open').where(
          'id',
          '<>',
          sql<string>`all(${failedIds}::uuid[])`
        )
          .select('id').orderBy('due_at').limit(10).forUpdate().skipLocked().execute(),
      async work (trx, rows) {
        for (const { id } of rows) {
          await trx.updateTable('tasks').set({ status: broken.has(id) ? 'refused' : 'done' }).where('id', '=', id)
            .execute()
        }
      }
    })
  await t.rejects(run(), { errors: [{ code: '23514' }, { code: '23514' }] })
  t.same(await statuses(), [...Array<string>(23).fill('done'), 'open', 'open'])
  broken.clear()
  await Promise.all([run(), run()])
  t.same(await statuses(), Array<string>(25).fill('done'))
})

t.test('rows of one transaction: one that always takes too long stays due alone', async (t) => {
  const [slow] = await givenTasks(5)
  const done = workLocked(db, {
    lock: async (trx, failedIds) =>
      await trx.selectFrom('tasks').where('status', '=', 'open')
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select('id').orderBy('due_at').limit(3).forUpdate().skipLocked().execute(),
    async work (trx, rows) {
      await trx.updateTable('tasks').set({ status: 'done' }).where('id', 'in', rows.map(({ id }) => id)).execute()
      if (!rows.some(({ id }) => id === slow)) return
      await sql`set local statement_timeout = '20ms'`.execute(trx)
      await sql`select pg_sleep(60)`.execute(trx)
    }
  })
  await t.rejects(done, { code: '57014' })
  t.same(await statuses(), [...Array<string>(4).fill('done'), 'open'])
  t.match(await find(slow!), { status: 'open' })
})
