import type { CallRpc } from '@tandem/bus-kit'
import type { Media, Storage } from '@tandem/media-kit'
import type { Db } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  media: Media
  /** Storage for selfies. Nothing in it is ever served publicly. */
  selfies: Storage
  /** Minimum age in years; 0 means none. */
  minAge: number
}
