import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { lockAccount } from '../progress/actions.ts'
import { food, lift, testApp, water, workout } from '../test/app.ts'
import type * as Actions from './actions.ts'
import { parseItem } from './items.ts'

const { newUser, db, clock } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

// Separate module instances, as in other processes: they share only the database.
const replicas = await Promise.all(
  ['?one', '?two', '?three'].map(async (name) => await import(`./actions.ts${name}`) as typeof Actions)
)

const minutesAgo = (minutes: number) => new Date(Date.parse(now) - minutes * 60_000).toISOString()
const earlier = minutesAgo(120)

t.test('batches in several processes write each log once and publish each event once', async (t) => {
  const { account: accountId, read, publishedEvents } = newUser({ now })
  const items = [
    lift(now, 'Squat', 80, { clientId: 'a' }),
    workout(earlier, { durationMinutes: 60 }, { clientId: 'b' }),
    food(now, {}, { clientId: 'c' })
  ]
  const results = await Promise.all(
    [0, 1, 2, 0, 1, 2, 0, 1, 2].map(async (replica) =>
      await replicas[replica]?.writeLogs(db, {
        accountId,
        zone: 'Asia/Jakarta',
        parsedItems: items.map((item) => parseItem(item, clock.now)),
        idempotencyKey: undefined
      })
    )
  )
  t.equal(results.flat().filter((result) => result?.status === 'created').length, 3)
  t.equal(new Set(results.flat().map((result) => result?.id)).size, 3)
  t.same(await publishedEvents(), [['record', 'Squat', 80, 5], ['level', 2], ['achievement', 'FIRST_WORKOUT'], [
    'achievement',
    'FIRST_PR'
  ]])
  t.match((await read('/dashboard/stats')).stats, { totalXp: 50 + 30 + 25 + 110 + 5, totalWorkouts: 2, totalPRs: 1 })
})

t.test('different batches in several processes are all counted', async (t) => {
  const { account: accountId, read, publishedEvents } = newUser({ now })
  await Promise.all(Array.from({ length: 12 }, async (_, index) =>
    await replicas[index % 3]?.writeLogs(db, {
      accountId,
      zone: 'Asia/Jakarta',
      parsedItems: [
        parseItem(workout(minutesAgo(20 * index), { durationMinutes: 10 }), clock.now),
        parseItem(water(now, 100), clock.now)
      ],
      idempotencyKey: undefined
    })))
  // 12 × 60 + 8 × 2
  t.match(await read('/dashboard/home'), {
    stats: { totalXp: 736, totalWorkouts: 12 },
    today: { water: { currentMl: 1200 } }
  })
  t.same((await publishedEvents()).filter(([what]) => what === 'level'), [['level', 2], ['level', 3], ['level', 4]])
})

t.test('a batch waits while another one has locked the account', async (t) => {
  const { account, log } = newUser({ now })
  let writing: Promise<unknown> = Promise.resolve()
  await db.transaction().execute(async (trx) => {
    await lockAccount(trx, account)
    writing = log(water(now))
    await sleep(200)
    t.same(await db.selectFrom('logs').where('account_id', '=', account).select('id').execute(), [])
  })
  t.match(await writing, [{ status: 'created' }])
})

t.test('of several concurrent deletions of one log exactly one succeeds and takes effect once', async (t) => {
  const { account, log, read } = newUser({ now })
  const [written] = await log(workout(now), workout(now))
  const ends = await Promise.allSettled(
    [0, 1, 2, 0, 1, 2].map(async (replica) => await replicas[replica]?.deleteLog(db, account, written?.id as string))
  )
  t.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const end of ends) if (end.status === 'rejected') t.equal(end.reason.code, 'NOT_FOUND')
  t.match((await read('/dashboard/stats')).stats, { totalXp: 80, totalWorkouts: 1 })
})

t.test('a failed batch leaves no data behind', async (t) => {
  const { account, send, publishedEvents } = newUser({ now })
  // Other tests in this file have water logs, which must stay.
  await sql`alter table streaks add constraint no_water check (kind <> 'WATER') not valid`.execute(db)
  const response = await send('POST', '/logs/batch', { items: [water(now), lift(now, 'Squat', 80)] })
  t.match(response.json(), { success: false, code: 'SERVER_ERROR' })
  await sql`alter table streaks drop constraint no_water`.execute(db)
  t.same(await db.selectFrom('logs').where('account_id', '=', account).select('id').execute(), [])
  t.same(await db.selectFrom('totals').where('account_id', '=', account).select('account_id').execute(), [])
  t.same(await publishedEvents(), [])
})
