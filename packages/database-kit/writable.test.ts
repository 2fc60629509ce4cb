import { sql } from 'kysely'
import { register } from 'prom-client'
import t, { type Test } from 'tap'
import { Degraded } from '@tandem/process-kit'
import { checkWritable, connect, watchDisk } from './index.ts'

function open (t: Test, options = '', server = process.env['TEST_DATABASE_URL'] ?? '') {
  const url = new URL(server)
  if (options) url.searchParams.set('options', options)
  const db = connect<{ outbox: object }>(url.href.replaceAll('+', '%20'), { log: { warn () {} }, timeoutFactor: 10 })
  t.teardown(() => db.destroy())
  return async () => await sql`select 1 from pg_namespace limit 0 for update`.execute(db)
}
const measure = async () =>
  (await register.getSingleMetric('postgres_read_only')!.get()).values.map(({ value }) => value)

t.test('a health check says that Postgres is read-only, and measures it until it is not', async (t) => {
  await t.rejects(checkWritable(open(t, '-c default_transaction_read_only=on')), new Degraded('Postgres is read-only'))
  t.strictSame(await measure(), [1])
  await checkWritable(open(t))
  t.strictSame(await measure(), [0])
})

t.test('a server that is down is neither', async (t) => {
  await t.rejects(checkWritable(open(t, '', 'postgres://127.0.0.1:1/none')), { code: 'ECONNREFUSED' })
  t.strictSame(await measure(), [])
})

t.test('a full disk is known for a minute after a statement that it failed', async (t) => {
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const disk = watchDisk()
  const db = connect<object>(process.env['TEST_DATABASE_URL'] ?? '', { log: { warn () {} }, onError: disk.onError })
  t.teardown(() => db.destroy())
  const fail = async (code: string) => {
    const block = `do $$ begin raise exception 'could not extend file' using errcode = '${code}'; end $$`
    await t.rejects(sql.raw(block).execute(db), { code })
  }
  await fail('23505')
  await t.resolves(disk.check())
  await fail('53100')
  await t.rejects(disk.check(), new Degraded('the disk of Postgres is full'))
  Date.now = () => now() + 60_000
  await t.resolves(disk.check())
})
