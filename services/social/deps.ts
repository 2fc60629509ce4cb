import type { AccountErasure } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import type { Hooks } from '@tandem/http-kit'
import type { Media, UploadParts } from '@tandem/media-kit'
import type { ProposalKind } from '@tandem/operator-kit'
import type { Ranking } from './feed/ranking.ts'
import type { PeopleLookup } from './people/lookup.ts'
import type { Db } from './tables.ts'

/** The dependencies passed to every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  hooks: Hooks
  people: PeopleLookup
  media: Media
  uploadParts: UploadParts
  /** Whether ffmpeg writes what cannot be copied, and posters. */
  transcodesVideos: boolean
  ranking: Ranking
  erasure: AccountErasure
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
}
