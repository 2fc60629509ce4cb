import type { AccountErasure } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import type { EphemeralMessage } from '@tandem/contracts/realtime'
import type { MediaUrls } from '@tandem/media-url-kit'
import type { Queue } from '@tandem/queue-kit'
import type { Db } from './tables.ts'
import type { StatsCache } from './stats/cache.ts'

/** The dependencies passed to every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  cache: StatsCache
  mediaUrls: MediaUrls
  /** Minimum age in years for tracking fasts; 0 means none. */
  minAge: number
  now: () => Date
  /** Reads imported files. */
  imports: Pick<Queue, 'enqueue'>
  erasure: AccountErasure
  /** Sends a realtime frame that is not kept. */
  sendEphemeral: (message: EphemeralMessage) => void
}
