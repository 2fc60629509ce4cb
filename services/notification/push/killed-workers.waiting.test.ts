// It kills workers and waits for their leases to expire.
import { fork } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { startRedis, runConcurrently, until } from '@tandem/test-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { notify, testApp } from '../test/app.ts'
import { createLogProvider } from './log-provider.ts'
import { createPushQueue } from './create-push-queue.ts'
import { startFakeFcm } from '../test/fake-fcm.ts'

// The jobs of a killed worker are retried after 15 s, and its leases expire after 30 s, so most of this is waiting.
t.jobs = 2

t.test('workers killed while sending lose no push and show none twice on a device', async (t) => {
  const app = (await testApp(t)).reset()
  const [redis, google] = await Promise.all([startRedis(t), startFakeFcm()])
  t.teardown(() => google.close())
  const prefix = randomUUIDv7()
  // It enqueues and has no workers.
  const pushes = createPushQueue({
    db: app.db,
    callRpc: app.deps.callRpc,
    findPeople: app.deps.findPeople,
    provider: createLogProvider(silentLog),
    redisUrl: redis.url,
    log: silentLog,
    prefix
  })
  t.teardown(() => pushes.close())
  await until(() => pushes.ping().then(() => true, () => false))
  const accounts = await runConcurrently(Array.from({ length: 20 }, () => async () => {
    const account = await app.person('P')
    await app.device(account)
    return account
  }))

  const work = () => {
    const child = fork(new URL('../test/delivering-process.ts', import.meta.url), [
      app.url,
      redis.url,
      prefix,
      google.url,
      google.file
    ])
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  for (let round = 0; round < 3; round++) {
    const child = work()
    const ended = once(child, 'exit')
    const before = google.seen.length
    for (const account of accounts) {
      await notify({ ...app.deps, pushes }, {
        kind: 'levelReached',
        dedupeKey: `level:${round}`,
        to: [account],
        params: { level: round }
      }, new Date())
    }
    await until(() => google.seen.length > before + round)
    child.kill('SIGKILL')
    await ended
  }

  work()
  // Expires the leases of killed workers early, so that the test does not wait for them.
  await sleep(1_000)
  const expire = setInterval(
    () =>
      void sql`
        update deliveries set claimed_until = now() - interval '1 second'
        where attempts = 1 and claimed_until > now() and claimed_until < now() + interval '24 seconds'`
        .execute(app.db).catch(() => {}),
    1_000
  )
  t.teardown(() => clearInterval(expire))
  await until(
    async () =>
      (await app.db.selectFrom('deliveries').where('status', '!=', 'sent').select('id').execute()).length === 0,
    80
  )

  const shown = new Set(google.seen.map(({ token, message }) => `${token} ${message.android.notification?.tag}`))
  t.equal(shown.size, 60, 'every notification reached its device')
  t.equal((await app.db.selectFrom('deliveries').select('id').execute()).length, 60)
  const repeated = google.seen.length - shown.size
  t.ok(repeated <= 12, `${repeated} were sent twice, each replacing the first`)
})

t.test('a process killed between claiming and sending loses no push', async (t) => {
  const app = (await testApp(t)).reset()
  const [redis, google] = await Promise.all([startRedis(t), startFakeFcm()])
  t.teardown(() => google.close())
  const prefix = randomUUIDv7()
  const accounts = await runConcurrently(Array.from({ length: 10 }, () => async () => {
    const account = await app.person('P')
    await app.device(account)
    return account
  }))
  const readDeliveries = async () =>
    await app.db.selectFrom('deliveries').select(['status', 'attempts', 'claimed_until']).execute()

  const claiming = fork(new URL('../test/claiming-process.ts', import.meta.url), [
    app.url,
    redis.url,
    prefix,
    ...accounts
  ])
  t.teardown(() => claiming.kill('SIGKILL'))
  const ended = once(claiming, 'exit')
  let claimed = 0
  claiming.on('message', () => claimed++)
  await until(() => claimed === 10)
  claiming.kill('SIGKILL')
  await ended
  const left = await readDeliveries()
  t.equal(left.length, 10)
  t.ok(left.every((each) => each.status === 'pending' && each.attempts === 1 && each.claimed_until! > new Date()))

  const sending = fork(new URL('../test/delivering-process.ts', import.meta.url), [
    app.url,
    redis.url,
    prefix,
    google.url,
    google.file
  ])
  t.teardown(() => sending.kill('SIGKILL'))
  // Two sweeps, which leave rows with a lease alone.
  await sleep(3_000)
  t.equal(google.seen.length, 0)
  await sql`update deliveries set claimed_until = now() - interval '1 second'`.execute(app.db)
  await until(async () => (await readDeliveries()).every(({ status }) => status === 'sent'))
  t.ok((await readDeliveries()).every(({ attempts }) => attempts === 2))
  t.equal(google.seen.length, 10)
  t.equal(new Set(google.seen.map(({ token }) => token)).size, 10)
})
