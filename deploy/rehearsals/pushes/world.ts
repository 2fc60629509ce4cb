import type { startNats, startRedis } from '@tandem/test-kit'
import type { Kysely } from 'kysely'
import type { startFakeFcm } from '../../../services/notification/test/fake-fcm.ts'
import type { Stack } from '../kit/stack.ts'

export type Db = Kysely<Record<string, never>>

/** What every scenario works with. */
export interface World {
  stack: Stack
  dataDir: string
  db: Db
  provider: Awaited<ReturnType<typeof startFakeFcm>>
  redis: Awaited<ReturnType<typeof startRedis>>
  nats: Awaited<ReturnType<typeof startNats>>
  random: () => number
  /** Prints whether something holds. If not, the command fails at the end. */
  check: (holds: boolean, what: string) => void
}
