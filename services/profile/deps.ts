import type { Media } from '@tandem/media-kit'
import type { FindAccounts } from './people/accounts.ts'
import type { Db } from './tables.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  /** Asks identity for accounts that are not known here. */
  findAccounts: FindAccounts
  media: Media
}
