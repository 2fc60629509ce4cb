import type { AccountErasure } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import type { Hooks } from '@tandem/http-kit'
import type { MediaUrls } from '@tandem/media-url-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { Storage } from '@tandem/media-kit'
import type { Queue } from '@tandem/queue-kit'
import type { ProposalKind } from '@tandem/operator-kit'
import type { Ledger } from './erasures/ledger.ts'
import type { SignKeySet } from './keys/signed-keys.ts'
import type { Issuers } from './keys/tokens.ts'
import type { MailRequests } from './mails/requests.ts'
import type { Blocklist } from './passwords/blocklist.ts'
import type { Hashing } from './passwords/hashing.ts'
import type { VerifyToken } from './providers/tokens.ts'
import type { ProviderClient } from './revocations/provider-client.ts'
import type { ReadFile } from './storages.ts'
import type { ConsoleSettings } from './staff/settings.ts'
import type { Db, Provider } from './tables.ts'
import type { Secrets } from './secrets.ts'
import type { Stores } from './stores/settings.ts'
import type { SubscriptionSettings } from './subscriptions/settings.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  hooks: Hooks
  secrets: Secrets
  hashing: Hashing
  blocklist: Blocklist
  signKeySet: SignKeySet
  providers: Record<Provider, VerifyToken>
  /** Ends connections at provider B; undefined if it is not configured. */
  providerClient: ProviderClient | undefined
  /** The stores that sell subscriptions. */
  stores: Stores
  subscriptions: SubscriptionSettings
  /** The time, by which periods end. */
  clock: () => Date
  /** What stores said and have to be asked about. */
  storeNotifications: Pick<Queue, 'enqueue' | 'start'>
  mailer: Mailer
  mailRequests: MailRequests
  ledger: Ledger
  /** No URL leads to its files: routes that check the caller send them. */
  privateStorage: Storage
  readFile: ReadFile
  erasure: AccountErasure
  mediaUrls: MediaUrls
  /** The public URL of this installation. */
  publicUrl: string
  console: ConsoleSettings
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
  /** How many days a person can cancel the deletion of their account. */
  graceDays: number
  /** How many days of premium a referral gives to both people. */
  referralRewardDays: number
}

/** The dependencies of routes: only the server signs tokens. */
export type RouteDeps = Deps & Issuers
