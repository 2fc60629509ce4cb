import { diskStorage, s3Storage, splitStorage, type Storage } from './storage.ts'

/** The variables that say where a service keeps files, as its own configuration has read them. */
export interface StorageVariables {
  MEDIA_DIR?: string | undefined
  S3_ENDPOINT?: string | undefined
  S3_BUCKET?: string | undefined
  /** For what is not to be seen by everybody; nothing is served from it without a signature. */
  S3_PRIVATE_BUCKET?: string | undefined
  S3_REGION?: string | undefined
  S3_ACCESS_KEY_ID?: string | undefined
  S3_SECRET_ACCESS_KEY?: string | undefined
}

/** S3 if it is configured, else the directory. @throws when neither is */
export function createStorage (variables: StorageVariables): Storage {
  const { MEDIA_DIR, S3_ENDPOINT, S3_BUCKET, S3_PRIVATE_BUCKET, S3_REGION = 'us-east-1', S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = variables
  if (S3_ENDPOINT && S3_BUCKET && S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY) {
    const settings = { endpoint: S3_ENDPOINT, region: S3_REGION, accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY }
    const others = s3Storage({ ...settings, bucket: S3_BUCKET })
    return S3_PRIVATE_BUCKET ? splitStorage(others, s3Storage({ ...settings, bucket: S3_PRIVATE_BUCKET })) : others
  }
  if (MEDIA_DIR) return diskStorage(MEDIA_DIR)
  throw new Error('set MEDIA_DIR, or S3_ENDPOINT with S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
}
