import type { CallRpc } from '@tandem/bus-kit'
import type { Media, Storage } from '@tandem/media-kit'
import type { Db } from './tables.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  media: Media
  /** Where selfies are kept: nowhere that anything is served from. */
  selfies: Storage
  /** Years; 0 asks for no age. */
  minAge: number
}
