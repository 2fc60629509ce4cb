import type { AccountErasure } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import type { EphemeralMessage } from '@tandem/contracts/realtime'
import type { Hooks } from '@tandem/http-kit'
import type { Media, Storage } from '@tandem/media-kit'
import type { ProposalKind } from '@tandem/operator-kit'
import type { FindPeople } from './people/lookup.ts'
import type { Db } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  hooks: Hooks
  findPeople: FindPeople
  media: Media
  /** Storage for selfies. Nothing in it is ever served publicly. */
  selfies: Storage
  /** Minimum age in years; 0 means none. */
  minAge: number
  now: () => Date
  erasure: AccountErasure
  /** Whether the older routes for operators, of accounts with the role ADMIN, are off. */
  areAdminRoutesOff: boolean
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
  /** Sends a frame to the realtime connections of an account. It may be lost. */
  sendEphemeral: (message: EphemeralMessage) => void
}
