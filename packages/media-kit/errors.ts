import createError from '@fastify/error'

export const NotMultipart = createError('UNSUPPORTED_MEDIA_TYPE', 'The file must come in a multipart/form-data form', 415)
export const FileMissing = createError('VALIDATION_ERROR', 'A file is required in the field "%s"', 400)
export const UnsupportedImage = createError('UNSUPPORTED_MEDIA_TYPE', 'The file must be a JPEG, PNG or WebP image, and say so', 415)
export const CorruptImage = createError('VALIDATION_ERROR', 'The image is damaged', 400)
export const FileTooLarge = createError('PAYLOAD_TOO_LARGE', 'The file must not be larger than 5 MB', 413)
export const TooManyPixels = createError('PAYLOAD_TOO_LARGE', 'The image must not have more than 40 million pixels', 413)
export const DecodedImageTooLarge = createError('PAYLOAD_TOO_LARGE', 'The image takes too much memory; use fewer pixels or fewer bits per channel', 413)
export const MalformedForm = createError('VALIDATION_ERROR', 'The form is damaged or did not arrive whole', 400)
export const TooManyImages = createError('SERVICE_UNAVAILABLE', 'Too many images are being processed right now, try again shortly', 503)
export const StorageUnavailable = createError('SERVICE_UNAVAILABLE', 'Files cannot be kept right now, try again shortly', 503)
