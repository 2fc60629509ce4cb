import Type from 'typebox'
import { CdnUrl, MediaSigningKey } from '@tandem/media-url-kit'
import { ConfigError, Url } from '@tandem/process-kit'
import { diskStorage } from './disk-storage.ts'
import { createMedia } from './media.ts'
import { s3Storage } from './s3-storage.ts'
import { splitStorage, type Storage } from './storage.ts'

/** Where files are stored. Spread it into the configuration of a service that reads or stores files. */
export const StorageEnvironment = {
  MEDIA_DIR: Type.Optional(Type.String({ description: 'The folder of uploaded media, unless S3_* is set' })),
  S3_ENDPOINT: Type.Optional(Url()),
  S3_BUCKET: Type.Optional(Type.String({ description: 'The bucket of uploaded media' })),
  S3_REGION: Type.Optional(Type.String()),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String()),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String())
}

/** What a service needs that takes uploads. */
export const MediaEnvironment = {
  ...StorageEnvironment,
  CDN_URL: CdnUrl(),
  CDN_PURGE_URL: Type.Optional(
    Url({ description: 'Takes `POST {"files": [url, …]}` when images are deleted, so that the CDN forgets them' })
  ),
  CDN_PURGE_TOKEN: Type.Optional(Type.String({ description: 'Sent to CDN_PURGE_URL as a bearer token' })),
  MEDIA_URLS_ONLY_OWN: Type.Boolean({
    default: false,
    description: 'Whether clients can only name images that were uploaded here'
  })
}

/** What it needs besides for private images. */
export const PrivateMediaEnvironment = {
  S3_PRIVATE_BUCKET: Type.Optional(Type.String({ description: 'A bucket that is never served, for private files' })),
  MEDIA_SIGNING_KEY: MediaSigningKey()
}

type MediaVariables = Type.Static<Type.TObject<typeof MediaEnvironment>> & { MEDIA_SIGNING_KEY?: string }

/** The media of a service, in its storage, as its configuration says. */
export const openMedia = (storage: Storage, config: MediaVariables) =>
  createMedia({
    storage,
    cdnUrl: config.CDN_URL,
    purgeUrl: config.CDN_PURGE_URL,
    purgeToken: config.CDN_PURGE_TOKEN,
    ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN,
    signingKey: config.MEDIA_SIGNING_KEY
  })

type StorageVariables = Partial<Record<keyof typeof StorageEnvironment | 'S3_PRIVATE_BUCKET', string>>

/** @throws ConfigError if private files would be stored in S3 where public ones are */
export function requirePrivateBucket ({ S3_ENDPOINT, S3_BUCKET, S3_PRIVATE_BUCKET }: StorageVariables) {
  if (S3_ENDPOINT && (!S3_PRIVATE_BUCKET || S3_PRIVATE_BUCKET === S3_BUCKET)) {
    throw new ConfigError('S3_PRIVATE_BUCKET must be a bucket other than S3_BUCKET')
  }
}

/** Creates S3 storage if it is configured, otherwise disk storage. @throws ConfigError if neither is, or S3 in part */
export function createStorage (variables: StorageVariables): Storage {
  const {
    MEDIA_DIR,
    S3_ENDPOINT,
    S3_BUCKET,
    S3_PRIVATE_BUCKET,
    S3_REGION = 'us-east-1',
    S3_ACCESS_KEY_ID,
    S3_SECRET_ACCESS_KEY
  } = variables
  if (S3_ENDPOINT || S3_BUCKET) {
    // Never MEDIA_DIR instead: nobody would notice, and the gateway serves that folder.
    if (!S3_ENDPOINT || !S3_BUCKET || !S3_ACCESS_KEY_ID || !S3_SECRET_ACCESS_KEY) {
      throw new ConfigError('S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together')
    }
    const connection = {
      endpoint: S3_ENDPOINT,
      region: S3_REGION,
      accessKeyId: S3_ACCESS_KEY_ID,
      secretAccessKey: S3_SECRET_ACCESS_KEY
    }
    const publicStorage = s3Storage({ ...connection, bucket: S3_BUCKET })
    return S3_PRIVATE_BUCKET
      ? splitStorage(publicStorage, s3Storage({ ...connection, bucket: S3_PRIVATE_BUCKET }))
      : publicStorage
  }
  if (MEDIA_DIR) return diskStorage(MEDIA_DIR)
  throw new ConfigError('set MEDIA_DIR, or S3_ENDPOINT with S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
}
