// Measures pushes while something fails: `faults`, `redis`, `nats` or `broadcast`. The push provider
// is a fake that can fail as a real one does. Events and people are written directly into the tables; everything else
// is real.
import { connect } from '@tandem/database-kit'
import { seededRandom, startNats, startRedis } from '@tandem/test-kit'
import { startFakeFcm } from '../../../services/notification/test/fake-fcm.ts'
import { withStack } from '../kit/stack.ts'
import { broadcast } from './broadcast.ts'
import { faults } from './faults.ts'
import { natsOutage, redisOutage } from './outages.ts'
import type { Db } from './world.ts'

const scenarios = { faults, redis: redisOutage, nats: natsOutage, broadcast }

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work), passing: () => failures === 0 }
let failures = 0

const scenario = scenarios[(process.argv[2] ?? 'faults') as keyof typeof scenarios]
if (!scenario) throw new Error(`choose one of ${Object.keys(scenarios).join(', ')}`)

const random = seededRandom(t)
const provider = await startFakeFcm()
t.teardown(async () => await provider.close())
const [redis, nats] = await Promise.all([startRedis(t), startNats(t)])
const environment = {
  REDIS_URL: redis.url,
  NATS_URL: nats.url,
  FCM_BASE_URL: provider.url,
  FCM_SERVICE_ACCOUNT_FILE: provider.file
}
await withStack(async (stack, dataDir) => {
  const db: Db = connect(stack.postgres.url, { log: { warn () {} }, timeoutFactor: 30 })
  await scenario({ stack, dataDir, db, provider, redis, nats, random, check })
  await db.destroy()
}, environment)
for (const cleanup of cleanups.reverse()) await cleanup()
if (failures > 0) process.exitCode = 1

function check (holds: boolean, what: string) {
  console.log(`${holds ? '✓' : '✗'} ${what}`)
  if (!holds) failures++
}
