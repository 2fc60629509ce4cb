// Runs alone: it kills workers in the middle of their work.
import { fork } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { startRedis } from '@tandem/local/testing'
import { silentLog } from '@tandem/service-kit/testing'
import { notify } from '../inbox/actions.ts'
import { inLanes, testApp, until } from '../test/app.ts'
import { logOnly } from './log-only.ts'
import { createPushes } from './queue.ts'
import { startFcmStandIn } from './stand-in.ts'

// A killed worker's jobs come again after 15 s, and its leases end after 30 s, so most of this test is waiting.
t.test('workers that are killed while they send lose no push, and double none on the device', { timeout: 115_000 }, async (t) => {
  const app = (await testApp(t)).fresh()
  const [redis, google] = await Promise.all([startRedis(t), startFcmStandIn()])
  t.teardown(() => google.close())
  const prefix = randomUUIDv7()
  // It offers and never works.
  const pushes = createPushes({ db: app.db, findPeople: app.deps.findPeople, provider: logOnly(silentLog), redisUrl: redis.url, log: silentLog, prefix })
  t.teardown(() => pushes.close())
  await until(() => pushes.ready().then(() => true, () => false))
  const accounts = await inLanes(Array.from({ length: 20 }, () => async () => {
    const account = await app.person('P')
    await app.device(account)
    return account
  }))

  const work = () => {
    const child = fork(new URL('delivering-process.ts', import.meta.url), [app.url, redis.url, prefix, google.url, google.file])
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  for (let round = 0; round < 3; round++) {
    const child = work()
    const ended = once(child, 'exit')
    const before = google.seen.length
    for (const account of accounts) {
      await notify({ ...app.deps, pushes }, { kind: 'levelReached', cause: `level:${round}`, to: [account], params: { level: round } }, new Date())
    }
    await until(() => google.seen.length > before + round, 40)
    child.kill('SIGKILL')
    await ended
  }

  work()
  // The leases of the dead end early, or the test would last as long as they do.
  await sleep(1_000)
  const hurry = setInterval(() => void sql`update deliveries set claimed_until = now() - interval '1 second' where attempts = 1 and claimed_until > now() and claimed_until < now() + interval '24 seconds'`.execute(app.db).catch(() => {}), 1_000)
  t.teardown(() => clearInterval(hurry))
  await until(async () => (await app.db.selectFrom('deliveries').where('status', '!=', 'sent').select('id').execute()).length === 0, 80)

  const shown = new Set(google.seen.map(({ token, message }) => `${token} ${message.android.notification.tag}`))
  t.equal(shown.size, 60, 'every notice is on its device')
  t.equal((await app.db.selectFrom('deliveries').select('id').execute()).length, 60)
  const repeated = google.seen.length - shown.size
  t.ok(repeated <= 12, `${repeated} came twice, each in place of the first`)
})
