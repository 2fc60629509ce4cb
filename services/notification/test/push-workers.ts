import { randomUUIDv7 } from 'node:crypto'
import { readCredential } from '@tandem/google-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { startRedis, until, type Teardown } from '@tandem/test-kit'
import { createPushQueue } from '../push/create-push-queue.ts'
import { createFcm, FCM_CREDENTIAL } from '../push/fcm.ts'
import { notify, type TestApp } from './app.ts'
import type { startFakeFcm } from './fake-fcm.ts'

type Google = Awaited<ReturnType<typeof startFakeFcm>>

/**
 * Workers that send pushes to a fake FCM server, with a Redis of their own.
 * @returns that, and what actions need to hand their pushes to these workers
 */
export async function startPushWorkers (t: Teardown, app: TestApp, google: Google) {
  const redis = await startRedis(t)
  const provider = createFcm({ baseUrl: google.url, credential: await readCredential(google.file, FCM_CREDENTIAL) })
  const pushes = createPushQueue({
    db: app.db,
    callRpc: app.deps.callRpc,
    findPeople: app.deps.findPeople,
    provider,
    redisUrl: redis.url,
    log: silentLog,
    prefix: randomUUIDv7(),
    sweepIntervalSeconds: 1,
    sweepMinAgeSeconds: 2,
    retryDelayMs: 500
  })
  t.teardown(() => pushes.close())
  pushes.start()
  await until(() => pushes.ping().then(() => true, () => false))
  return { redis, deps: { ...app.deps, pushes } }
}

/** What became of an account's pushes, oldest first. */
export const outcomesOf = async ({ db }: TestApp, accountId: string) =>
  await db.selectFrom('deliveries').where('account_id', '=', accountId)
    .select(['status', 'reason', 'attempts']).orderBy('id').execute()

let level = 0

/** Lets an account reach a level that nobody had. @returns the level */
export async function reachLevel (deps: TestApp['deps'], accountId: string) {
  level++
  const dedupeKey = `level:${level}`
  await notify(deps, { kind: 'levelReached', dedupeKey, to: [accountId], params: { level } }, new Date())
  return level
}
