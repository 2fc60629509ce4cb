import type { CallRpc } from '@tandem/bus-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { PushQueue } from './notifications/push-queue.ts'
import type { FindPeople } from './people/lookup.ts'
import type { Db } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  findPeople: FindPeople
  mailer: Mailer
  pushes: PushQueue
  /** How long further likes of a post join the same notification. */
  likeDigestMs: number
  now: () => Date
}
