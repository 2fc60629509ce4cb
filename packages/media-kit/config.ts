import { diskStorage, s3Storage, type Storage } from './storage.ts'

/** The variables that say where a service keeps files, as its own configuration has read them. */
export interface StorageVariables {
  MEDIA_DIR?: string | undefined
  S3_ENDPOINT?: string | undefined
  S3_BUCKET?: string | undefined
  S3_REGION?: string | undefined
  S3_ACCESS_KEY_ID?: string | undefined
  S3_SECRET_ACCESS_KEY?: string | undefined
}

/** S3 if it is configured, else the directory. @throws when neither is */
export function createStorage ({ MEDIA_DIR, S3_ENDPOINT, S3_BUCKET, S3_REGION = 'us-east-1', S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }: StorageVariables): Storage {
  if (S3_ENDPOINT && S3_BUCKET && S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY) {
    return s3Storage({ endpoint: S3_ENDPOINT, bucket: S3_BUCKET, region: S3_REGION, accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY })
  }
  if (MEDIA_DIR) return diskStorage(MEDIA_DIR)
  throw new Error('set MEDIA_DIR, or S3_ENDPOINT with S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
}
