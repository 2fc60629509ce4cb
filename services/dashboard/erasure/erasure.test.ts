import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { checkErasure, checkExport, checkIndexes, checkSchema, type Seed } from '@tandem/account-kit/testing'
import { personalData } from '../personal-data.ts'
import { testApp } from '../test/app.ts'

const { db, deps: { erasure } } = await testApp(t)

t.test('every table of the live schema is declared', async (t) => await checkSchema(t, { db, personalData }))

t.test('an erasure reads no table as a whole', async (t) => await checkIndexes(t, { db, personalData }))

const seed: Seed = async ({ accountId, insert }) => {
  const account_id = accountId
  const log = await insert('logs', { account_id, type: 'WORKOUT' })
  await insert('lifts', { account_id, log_id: log['id'] })
  await insert('deleted_logs', { account_id })
  const { id } = await insert('imports', { account_id, status: 'DONE', format: 'CSV' })
  await insert('import_files', { account_id, import_id: id })
  await insert('past_targets', { account_id })
  for (
    const table of [
      'daily_summaries',
      'daily_measurements',
      'achievements',
      'attended_activities',
      'bookings',
      'totals',
      'goals',
      'profile_weights',
      'people'
    ]
  ) {
    await insert(table, { account_id })
  }
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))
  await insert('fasts', { account_id, plan: '16:8', started_at: at(0), goal_at: at(16) })
  await insert('streaks', { account_id, kind: 'DAY' })
  const program = await insert('programs', { account_id })
  await insert('active_programs', { account_id, program_id: program['id'] })
  const day = await insert('program_days', { program_id: program['id'] })
  await insert('program_exercises', { program_day_id: day['id'] })
  await insert('custom_exercises', { account_id })
  await insert('idempotency_keys', { account_id })
  await insert('daily_quotas', { account_id })
  await insert('failed_messages', { message: JSON.stringify({ account_id }), key: randomUUID() })
  await insert('hidden_people', { account_id, is_hidden: true })
}

t.test('an erasure leaves nothing of an account, and counts what it erased', async (t) => {
  await checkErasure(t, { db, erasure, personalData, seed })
})

t.test('an account with a row that cannot be deleted keeps no other from its erasure', async (t) => {
  const [broken, other] = [randomUUID(), randomUUID()]
  for (const account_id of [broken, other]) {
    const log = {
      account_id,
      client_id: 'a',
      type: 'WATER',
      at: new Date(),
      day: '2026-01-01',
      timezone: 'UTC',
      data: '{}'
    }
    await db.insertInto('logs').values(log as never).execute()
    await db.insertInto('departures').values({ account_id, erasure_id: randomUUID() }).execute()
  }
  await sql`create table pins (log uuid references logs)`.execute(db)
  await sql`insert into pins (log) select id from logs where account_id = ${broken}`.execute(db)
  await t.rejects(erasure.eraseDue(), { code: '23503' })
  const left = async () =>
    (await db.selectFrom('logs').where('account_id', 'in', [broken, other]).select('account_id').execute())
      .map(({ account_id }) => account_id)
  t.same(await left(), [broken])
  await sql`drop table pins`.execute(db)
  t.equal(await erasure.eraseDue(), 1)
  t.same(await left(), [])
})

t.test('the copy of a person has every table with their data, and nothing of anybody else', async (t) => {
  await checkExport(t, { db, erasure, personalData, seed, mayNameOther: [] })
})
