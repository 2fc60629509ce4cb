// It kills Redis, and waits for pushes that are retried.
import { sql } from 'kysely'
import t from 'tap'
import { runConcurrently, until } from '@tandem/test-kit'
import { testApp } from '../test/app.ts'
import { startFakeFcm, type Fault } from '../test/fake-fcm.ts'
import { reachLevel, startPushWorkers } from '../test/push-workers.ts'

const { reset } = await testApp(t)
const google = await startFakeFcm()
t.teardown(() => google.close())

t.test(
  'of 500 pushes with dead tokens, 429s, 503s and timeouts, every live device gets each once, though Redis is wiped',
  async (t) => {
    const app = reset()
    const { redis, deps } = await startPushWorkers(t, app, google)
    const accounts = await runConcurrently(Array.from({ length: 50 }, (_, number) => () => app.person(`P${number}`)))
    const fates = new Map<string, Fault | undefined>()
    const fate = (number: number): Fault | undefined =>
      [{ status: 404, code: 'UNREGISTERED' }, { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 1 }, {
        status: 503,
        code: 'UNAVAILABLE',
        retryAfter: 1
      }][number % 10]
    const tokens = await runConcurrently(
      accounts.flatMap((account) => Array.from({ length: 10 }, () => async () => await app.device(account)))
    )
    tokens.forEach((token, number) => fates.set(token, number === 5 ? 'silence' : fate(number)))
    google.respondWith(({ token }, attempt) => {
      const fault = fates.get(token)
      if (fault === undefined) return
      const isDead = typeof fault === 'object' && fault.status === 404
      return isDead || attempt === 1 ? fault : undefined
    })
    const before = google.seen.length

    await runConcurrently(accounts.map((account, number) => async () => {
      await reachLevel(deps, account)
      if (number === 20 || number === 40) await redis.wipe()
    }))
    const left = async () =>
      Number(
        (await app.db.selectFrom('deliveries').where('account_id', 'in', accounts).where('status', 'in', [
          'pending',
          'held'
        ])
          .select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count
      )
    await until(async () => await left() === 0)

    const seen = google.seen.slice(before)
    for (const [index, token] of tokens.entries()) {
      const mine = seen.filter((each) => each.token === token)
      const taken = mine.filter((each) => each.status === 200)
      const isDead = index % 10 === 0
      if (mine.length !== (isDead || (index % 10 > 2 && index !== 5) ? 1 : 2) || taken.length !== (isDead ? 0 : 1)) {
        t
          .fail(`device ${index}: ${JSON.stringify(mine.map(({ at, status }) => ({ at, status })))}`)
      }
      if (new Set(mine.map(({ message }) => message.android.collapse_key)).size > 1) {
        t.fail('one notification, one collapse id')
      }
      const [first, second] = mine
      if (second && first!.status !== 'none' && second.at - first!.at < 1_000) {
        t.fail(`sent again ${second.at - first!.at} ms later`)
      }
    }
    const { rows } = await sql<{ status: string, count: number }>`
    select status, count(*)::int as count from deliveries where account_id = any(${accounts}::uuid[])
    group by status order by status`
      .execute(app.db)
    t.strictSame(rows, [{ status: 'pruned', count: 50 }, { status: 'sent', count: 450 }])
  }
)

t.test('nothing is lost while Redis is unavailable, and a held push is sent on time after a wipe', async (t) => {
  const app = reset()
  google.respondWith(() => undefined)
  const { redis, deps } = await startPushWorkers(t, app, google)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  await redis.stop()
  await reachLevel(deps, ana)
  await reachLevel(deps, ana)
  await sql`
    update deliveries set status = 'held', due_at = now() + interval '3 seconds'
    where id = (select id from deliveries where account_id = ${ana} order by id desc limit 1)`.execute(app.db)
  await redis.wipe()
  await redis.start()
  await until(() => google.sentTo(token).length === 1)
  await until(() => google.sentTo(token).length === 2)
  const { due_at } = await app.db.selectFrom('deliveries').where('account_id', '=', ana).orderBy('id', 'desc').select(
    'due_at'
  ).executeTakeFirstOrThrow()
  t.ok(google.seen.at(-1)!.at >= due_at.getTime() - 20)
})
