import type { CallRpc } from '@tandem/bus-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { FindPeople } from './people/lookup.ts'
import type { Pushes } from './push/pushes.ts'
import type { Db } from './tables.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  findPeople: FindPeople
  mailer: Mailer
  pushes: Pushes
  /** How long the likes of a post are gathered into one notice, in milliseconds. */
  gatherLikesFor: number
  now: () => Date
}
