import path from 'node:path'
import Type from 'typebox'
import { createStorage, PurgeVariables } from '@tandem/media-kit'
import { MediaSigningKey } from '@tandem/http-kit'
import { ConfigError, Url } from '@tandem/process-kit'
import { AdminRoutesInApp, FourEyes } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  FOUR_EYES: FourEyes,
  ADMIN_ROUTES_IN_APP: AdminRoutesInApp,
  CDN_URL: Url({ description: 'The base URL that uploaded media are served from' }),
  ...PurgeVariables,
  MEDIA_DIR: Type.Optional(Type.String({ description: 'Directory for uploaded media, unless S3_* is set' })),
  SELFIE_DIR: Type.Optional(
    Type.String({ description: 'Directory for selfies, outside MEDIA_DIR; defaults to `selfies` beside it' })
  ),
  S3_ENDPOINT: Type.Optional(Url()),
  S3_BUCKET: Type.Optional(Type.String()),
  S3_PRIVATE_BUCKET: Type.Optional(Type.String({ description: 'A bucket that is never served; holds selfies' })),
  S3_REGION: Type.Optional(Type.String()),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String()),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String()),
  MEDIA_SIGNING_KEY: MediaSigningKey(),
  MEDIA_URLS_ONLY_OWN: Type.Boolean({
    default: false,
    description: 'Whether clients may only name URLs below CDN_URL'
  }),
  MIN_AGE: Type.Integer({
    minimum: 0,
    maximum: 120,
    default: 18,
    description: 'Minimum age for matching; 0 means no minimum'
  })
})

const isWithin = (inner: string, outer: string) => {
  const relative = path.relative(outer, inner)
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative))
}

/** The public and the private storage. @throws ConfigError if selfies would be stored where media are served from */
export function createStores (config: Type.Static<typeof Config>) {
  const { MEDIA_DIR, S3_ENDPOINT, S3_BUCKET, S3_PRIVATE_BUCKET } = config
  if (S3_ENDPOINT) {
    if (!S3_PRIVATE_BUCKET || S3_PRIVATE_BUCKET === S3_BUCKET) {
      throw new ConfigError('S3_PRIVATE_BUCKET must be a bucket other than S3_BUCKET')
    }
    return { media: createStore(config), selfies: createStore({ ...config, S3_BUCKET: S3_PRIVATE_BUCKET }) }
  }
  if (!MEDIA_DIR) throw new ConfigError('MEDIA_DIR is missing')
  const folder = path.resolve(MEDIA_DIR)
  const selfies = path.resolve(config.SELFIE_DIR ?? path.join(folder, '..', 'selfies'))
  if (isWithin(selfies, folder) || isWithin(folder, selfies)) {
    throw new ConfigError('SELFIE_DIR and MEDIA_DIR must not contain each other')
  }
  return { media: createStore({ MEDIA_DIR: folder }), selfies: createStore({ MEDIA_DIR: selfies }) }
}

function createStore (variables: Parameters<typeof createStorage>[0]) {
  try {
    return createStorage(variables)
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}
