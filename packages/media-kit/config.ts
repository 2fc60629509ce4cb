import Type from 'typebox'
import { Url } from '@tandem/process-kit'
import { diskStorage } from './disk-storage.ts'
import { s3Storage } from './s3-storage.ts'
import { splitStorage, type Storage } from './storage.ts'

/** Spread them into the configuration of a service that stores public images. */
export const PurgeVariables = {
  CDN_PURGE_URL: Type.Optional(
    Url({ description: 'Takes `POST {"files": [url, …]}` when images are deleted, so that the CDN forgets them' })
  ),
  CDN_PURGE_TOKEN: Type.Optional(Type.String({ description: 'Sent to CDN_PURGE_URL as a bearer token' }))
}

/** The configuration variables of a service's file storage. */
export interface StorageVariables {
  MEDIA_DIR?: string | undefined
  S3_ENDPOINT?: string | undefined
  S3_BUCKET?: string | undefined
  /** The bucket for private files, which are only served with a signature. */
  S3_PRIVATE_BUCKET?: string | undefined
  S3_REGION?: string | undefined
  S3_ACCESS_KEY_ID?: string | undefined
  S3_SECRET_ACCESS_KEY?: string | undefined
}

/** Creates S3 storage if it is configured, otherwise disk storage. @throws if neither is configured */
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
  if (S3_ENDPOINT && S3_BUCKET && S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY) {
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
  throw new Error('set MEDIA_DIR, or S3_ENDPOINT with S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
}
