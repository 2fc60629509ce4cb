import createError from '@fastify/error'
import { translateErrors } from '@tandem/process-kit'

export const NotMultipart = createError('UNSUPPORTED_MEDIA_TYPE', 'Send the file as multipart/form-data', 415)
export const FileMissing = createError(
  'VALIDATION_ERROR',
  '%s is required: send the file in this field of the form',
  400
)
export const UnsupportedImage = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The file must be a JPEG, PNG or WebP image with the matching content type',
  415
)
export const CorruptImage = createError('VALIDATION_ERROR', 'The image is corrupt; choose another one', 400)
export const FileTooLarge = createError('PAYLOAD_TOO_LARGE', 'The file must not be larger than 5 MB', 413)
export const TooManyPixels = createError(
  'PAYLOAD_TOO_LARGE',
  'The image must not have more than 40 million pixels',
  413
)
export const DecodedImageTooLarge = createError(
  'PAYLOAD_TOO_LARGE',
  'The decoded image is too large; use fewer pixels or fewer bits per channel',
  413
)
export const MalformedForm = createError('VALIDATION_ERROR', 'The form is malformed or incomplete; send it again', 400)
export const TooManyImages = createError(
  'SERVICE_UNAVAILABLE',
  'Too many images are being processed; try again shortly',
  503
)

translateErrors({
  NotMultipart,
  FileMissing,
  UnsupportedImage,
  CorruptImage,
  FileTooLarge,
  TooManyPixels,
  DecodedImageTooLarge,
  MalformedForm,
  TooManyImages
}, {
  NotMultipart: 'Kirim berkas sebagai multipart/form-data',
  FileMissing: '%s wajib diisi: kirim berkas di kolom formulir ini',
  UnsupportedImage: 'Berkas harus berupa gambar JPEG, PNG, atau WebP dengan jenis konten yang sesuai',
  CorruptImage: 'Gambar rusak; pilih gambar lain',
  FileTooLarge: 'Berkas tidak boleh lebih dari 5 MB',
  TooManyPixels: 'Gambar tidak boleh lebih dari 40 juta piksel',
  DecodedImageTooLarge: 'Gambar terlalu besar setelah didekode; gunakan lebih sedikit piksel atau bit per kanal',
  MalformedForm: 'Formulir tidak lengkap atau salah; kirim kembali',
  TooManyImages: 'Terlalu banyak gambar sedang diproses; coba lagi sebentar lagi'
})
