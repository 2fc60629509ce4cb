import type { Ask } from '@tandem/bus-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { Db } from './schema.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  ask: Ask
  mailer: Mailer
}
