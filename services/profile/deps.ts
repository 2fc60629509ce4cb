import type { AccountErasure } from '@tandem/account-kit'
import type { Media } from '@tandem/media-kit'
import type { FindAccounts } from './people/accounts.ts'
import type { Db } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  /** Fetches accounts from identity that have no person here yet. */
  findAccounts: FindAccounts
  media: Media
  erasure: AccountErasure
  /** Whether the older routes for operators, of accounts with the role ADMIN, are off. */
  areAdminRoutesOff: boolean
}
