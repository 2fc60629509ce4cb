import path from 'node:path'
import Type from 'typebox'
import { HooksEnvironment } from '@tandem/http-kit'
import { createStorage, MediaEnvironment, PrivateMediaEnvironment, requirePrivateBucket } from '@tandem/media-kit'
import { ConfigError } from '@tandem/process-kit'
import { AdminRoutesInApp, FourEyes } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  ...MediaEnvironment,
  ...PrivateMediaEnvironment,
  ...HooksEnvironment,
  SELFIE_DIR: Type.Optional(
    Type.String({ description: 'The folder of selfies, outside MEDIA_DIR; defaults to `selfies` beside it' })
  ),
  FOUR_EYES: FourEyes,
  ADMIN_ROUTES_IN_APP: AdminRoutesInApp
})

const isWithin = (inner: string, outer: string) => {
  const relative = path.relative(outer, inner)
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative))
}

/** The public and the private storage. @throws ConfigError if selfies would be stored where media are served from */
export function createStores (config: Type.Static<typeof Config>) {
  requirePrivateBucket(config)
  const { MEDIA_DIR, S3_ENDPOINT, S3_PRIVATE_BUCKET } = config
  const media = createStorage(config)
  if (S3_ENDPOINT) return { media, selfies: createStorage({ ...config, S3_BUCKET: S3_PRIVATE_BUCKET }) }
  const folder = path.resolve(MEDIA_DIR ?? '')
  const selfies = path.resolve(config.SELFIE_DIR ?? path.join(folder, '..', 'selfies'))
  if (isWithin(selfies, folder) || isWithin(folder, selfies)) {
    throw new ConfigError('SELFIE_DIR and MEDIA_DIR must not contain each other')
  }
  return { media, selfies: createStorage({ MEDIA_DIR: selfies }) }
}
