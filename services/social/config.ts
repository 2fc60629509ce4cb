import Type from 'typebox'
import { createStorage, PurgeVariables } from '@tandem/media-kit'
import { MediaSigningKey } from '@tandem/http-kit'
import { ConfigError, Url } from '@tandem/process-kit'
import { FourEyes } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  FOUR_EYES: FourEyes,
  CDN_URL: Url({ description: 'The base URL that uploaded media is served from' }),
  ...PurgeVariables,
  MEDIA_DIR: Type.Optional(
    Type.String({ description: 'The folder that stores uploaded media when S3 is not configured' })
  ),
  S3_ENDPOINT: Type.Optional(Url()),
  S3_BUCKET: Type.Optional(Type.String()),
  S3_PRIVATE_BUCKET: Type.Optional(Type.String({ description: 'The bucket for images that are not public' })),
  S3_REGION: Type.Optional(Type.String()),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String()),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String()),
  MEDIA_SIGNING_KEY: MediaSigningKey(),
  MEDIA_URLS_ONLY_OWN: Type.Boolean({
    default: false,
    description: 'Whether posts and stories can show only media uploaded to this service'
  })
})

/** @throws ConfigError when private images would share a bucket with public ones */
export function createStore (config: Type.Static<typeof Config>) {
  const { S3_ENDPOINT, S3_BUCKET, S3_PRIVATE_BUCKET } = config
  if (S3_ENDPOINT && (!S3_PRIVATE_BUCKET || S3_PRIVATE_BUCKET === S3_BUCKET)) {
    throw new ConfigError('S3_PRIVATE_BUCKET must be set to a bucket other than S3_BUCKET')
  }
  return createStorage(config)
}
