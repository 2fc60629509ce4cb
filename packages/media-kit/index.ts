export {
  createStorage,
  MediaEnvironment,
  PrivateMediaEnvironment,
  requirePrivateBucket,
  StorageEnvironment
} from './config.ts'
export * from './errors.ts'
export { reencodeImage, type Image } from './images.ts'
export { createMediaKey, privateCopyKeyOf, type Visibility } from './keys.ts'
export { createMedia, type ImageDetails, type Media, type StoredImage } from './media.ts'
export { examplePicture, Picture } from './picture.ts'
export { diskStorage } from './disk-storage.ts'
export { s3Storage } from './s3-storage.ts'
export type { ByteRange, Storage } from './storage.ts'
export { readImage, UPLOAD_BODY_LIMIT, multipartUploads } from './uploads.ts'
