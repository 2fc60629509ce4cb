import type { EventEmitter } from 'node:events'
import type { AccountErasure } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import type { MediaUrls } from '@tandem/media-url-kit'
import type { Log } from '@tandem/process-kit'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import type { Mailer } from '@tandem/mail-kit'
import type { ProposalKind } from '@tandem/operator-kit'
import type { PushQueue } from './notifications/push-queue.ts'
import type { FindPeople } from './people/lookup.ts'
import type { Db } from './tables.ts'
import type { WebhookQueue } from './webhooks/queue.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  findPeople: FindPeople
  mediaUrls: MediaUrls
  mailer: Mailer
  /** Links in mails start with it. */
  publicUrl: string
  pushes: PushQueue
  webhooks: WebhookQueue
  /** Hosts of webhook endpoints that may be private, and may be reached without TLS. */
  webhookPrivateHosts: ReadonlySet<string>
  /** How long further likes of a post join the same notification. */
  likeDigestMs: number
  now: () => Date
  /** Emits `event` when producers have sent some. */
  arrivals: EventEmitter
  erasure: AccountErasure
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
  /** Wakes the realtime connections of accounts. The signal may be lost: gateways also look by themselves. */
  wakeUp: (signal: WakeUpSignal) => void
  log: Log
}
