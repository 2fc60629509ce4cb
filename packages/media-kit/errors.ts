import { defineError } from '@tandem/process-kit'
export const NotMultipart = defineError('UNSUPPORTED_MEDIA_TYPE.notMultipart', 415)
export const UnsupportedImage = defineError('UNSUPPORTED_MEDIA_TYPE.unsupportedImage', 415)
export const CorruptImage = defineError('VALIDATION_ERROR.corruptImage', 400)
export const FileTooLarge = defineError('PAYLOAD_TOO_LARGE.fileTooLarge', 413)
export const TooManyPixels = defineError('PAYLOAD_TOO_LARGE.tooManyPixels', 413)
export const DecodedImageTooLarge = defineError('PAYLOAD_TOO_LARGE.decodedImageTooLarge', 413)
export const MalformedForm = defineError('VALIDATION_ERROR.malformedForm', 400)
export const TooManyImages = defineError('SERVICE_UNAVAILABLE.tooManyImages', 503)

// Of videos. Each says what to do about it.
export const NotAVideo = defineError('UNSUPPORTED_MEDIA_TYPE.notAVideo', 415)
export const NoPicture = defineError('UNSUPPORTED_MEDIA_TYPE.noPicture', 415)
export const SeveralPictures = defineError('UNSUPPORTED_MEDIA_TYPE.severalPictures', 415)
export const OtherCodec = defineError<{ codec: string }>('UNSUPPORTED_MEDIA_TYPE.otherCodec', 415)
export const OtherProfile = defineError('UNSUPPORTED_MEDIA_TYPE.otherProfile', 415)
export const HighDynamicRange = defineError('UNSUPPORTED_MEDIA_TYPE.highDynamicRange', 415)
export const OtherSound = defineError<{ codec: string }>('UNSUPPORTED_MEDIA_TYPE.otherSound', 415)
export const EncryptedVideo = defineError('UNSUPPORTED_MEDIA_TYPE.encryptedVideo', 415)
export const PictureTooLarge = defineError('UNSUPPORTED_MEDIA_TYPE.pictureTooLarge', 415)
export const TooManyFrames = defineError('UNSUPPORTED_MEDIA_TYPE.tooManyFrames', 415)
export const BitRateTooHigh = defineError('UNSUPPORTED_MEDIA_TYPE.bitRateTooHigh', 415)
export const VideoTooLong = defineError<{ seconds: number }>('VALIDATION_ERROR.videoTooLong', 400)
export const VideoTooShort = defineError('VALIDATION_ERROR.videoTooShort', 400)
export const CorruptVideo = defineError('VALIDATION_ERROR.corruptVideo', 400)
export const ImageQuotaExceeded = defineError('LIMIT_EXCEEDED.imageQuotaExceeded', 429)
export const VideoTooLarge = defineError<{ megabytes: number }>('PAYLOAD_TOO_LARGE.videoTooLarge', 413)
export const TooManyVideos = defineError('SERVICE_UNAVAILABLE.tooManyVideos', 503)

/** Why `prepareVideo` refuses a video. */
export const videoErrors = {
  NotAVideo,
  NoPicture,
  SeveralPictures,
  OtherCodec,
  OtherProfile,
  HighDynamicRange,
  OtherSound,
  EncryptedVideo,
  PictureTooLarge,
  TooManyFrames,
  BitRateTooHigh,
  VideoTooLong,
  VideoTooShort,
  CorruptVideo
}
