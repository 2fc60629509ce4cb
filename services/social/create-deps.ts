import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import { createHooks } from '@tandem/http-kit'
import { createStorage, createUploadParts, openMedia, requireFfmpeg, requirePrivateBucket } from '@tandem/media-kit'
import { readFourEyes } from '@tandem/operator-kit'
import { createRanking } from './feed/ranking.ts'
import { createPeopleLookup } from './people/lookup.ts'
import { createSocialErasure } from './erasure.ts'
import type { Tables } from './tables.ts'
import type { Deps } from './deps.ts'

/** @throws ConfigError */
export function createDeps ({ config, db, callRpc, log }: Resources<Type.Static<typeof Config>, Tables>): Deps {
  requirePrivateBucket(config)
  if (config.VIDEO_TRANSCODER === 'ffmpeg') requireFfmpeg()
  const storage = createStorage(config)
  const uploadParts = createUploadParts(storage)
  const media = openMedia(storage, config)
  return {
    db,
    callRpc,
    hooks: createHooks(config.HOOKS, log),
    people: createPeopleLookup({ db, callRpc, media }),
    media,
    uploadParts,
    transcodesVideos: config.VIDEO_TRANSCODER === 'ffmpeg',
    ranking: createRanking(db),
    fourEyes: readFourEyes(config.FOUR_EYES),
    erasure: createSocialErasure({ db, callRpc, media, uploadParts })
  }
}
