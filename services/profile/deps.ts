import type { Departures } from '@tandem/account-kit'
import type { Media } from '@tandem/media-kit'
import type { FindAccounts } from './people/accounts.ts'
import type { Db } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  /** Fetches accounts from identity that have no person here yet. */
  findAccounts: FindAccounts
  media: Media
  departures: Departures
  /** Whether accounts of the app with the role ADMIN can use the older routes for operators. */
  adminRoutesInApp: boolean
}
