import type { Ask } from '@tandem/bus-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { Pushes } from './push/pushes.ts'
import type { Db } from './schema.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  ask: Ask
  mailer: Mailer
  pushes: Pushes
  /** How long the likes of a post are gathered into one notice, in milliseconds. */
  gatherLikesFor: number
  now: () => Date
}
