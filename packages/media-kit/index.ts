export {
  createStorage,
  MediaEnvironment,
  openMedia,
  PrivateMediaEnvironment,
  requirePrivateBucket,
  StorageEnvironment
} from './config.ts'
export * from './errors.ts'
export { imageQuota } from './image-quota.ts'
export { reencodeImage, type Image } from './images.ts'
export { createMediaKey, privateCopyKeyOf } from './keys.ts'
export { createMedia, VIDEO_TYPE, type ImageDetails, type Media, type StoredImage } from './media.ts'
export { examplePicture, Picture } from './picture.ts'
export { diskStorage } from './disk-storage.ts'
export { s3Storage } from './s3-storage.ts'
export type { ByteRange, Storage } from './storage.ts'
export {
  beginUpload,
  multipartUploads,
  readImage,
  temporaryFile,
  UPLOAD_BODY_LIMIT,
  VIDEO_TYPES,
  VIDEO_BODY_LIMIT,
  withUpload,
  writeToFile,
  type UploadedFile
} from './uploads.ts'
export { createUploadParts, type UploadParts } from './upload-parts.ts'
export { neutralBlurhash } from './video/neutral-blurhash.ts'
export { prepareVideo, takeFrame } from './video/prepare-video.ts'
export { requireFfmpeg } from './video/transcode.ts'
