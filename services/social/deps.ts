import type { Ask } from '@tandem/bus-kit'
import type { Media } from '@tandem/media-kit'
import type { PeopleLookup } from './people/lookup.ts'
import type { Db } from './schema.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  ask: Ask
  people: PeopleLookup
  media: Media
}
