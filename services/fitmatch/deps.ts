import type { Departures } from '@tandem/account-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import { createStores, type Config } from './config.ts'
import type { CallRpc } from '@tandem/bus-kit'
import type { EphemeralMessage } from '@tandem/contracts/realtime'
import { createMedia, type Media, type Storage } from '@tandem/media-kit'
import { createFitMatchDepartures } from './departures.ts'
import { readFourEyes, type ProposalKind } from '@tandem/operator-kit'
import { createPeopleLookup, type FindPeople } from './people/lookup.ts'
import type { Db, Tables } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  findPeople: FindPeople
  media: Media
  /** Storage for selfies. Nothing in it is ever served publicly. */
  selfies: Storage
  /** Minimum age in years; 0 means none. */
  minAge: number
  now: () => Date
  departures: Departures
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
  /** Sends a frame to the realtime connections of an account. It may be lost. */
  sendEphemeral: (message: EphemeralMessage) => void
}

/** @throws ConfigError */
export function createDeps (
  { config, db, callRpc, publishSignal }: Resources<Type.Static<typeof Config>, Tables>
): Deps {
  const stores = createStores(config)
  const { selfies } = stores
  const media = createMedia({
    storage: stores.media,
    cdnUrl: config.CDN_URL,
    ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN,
    signingKey: config.MEDIA_SIGNING_KEY
  })
  return {
    db,
    callRpc,
    findPeople: createPeopleLookup({ db, callRpc }),
    media,
    selfies,
    minAge: config.MIN_AGE,
    now: () => new Date(),
    fourEyes: readFourEyes(config.FOUR_EYES),
    departures: createFitMatchDepartures({ db, callRpc, media, selfies }),
    sendEphemeral: publishSignal
  }
}
