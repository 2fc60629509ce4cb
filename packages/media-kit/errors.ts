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

// Of videos. Each says what to do about it.
export const NotAVideo = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The file must be an MP4 or MOV video. Export it as MP4 with H.264',
  415
)
export const NoPicture = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The file has no picture. Choose a video, not a sound recording',
  415
)
export const SeveralPictures = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The video has several pictures at once. Export it with one',
  415
)
export const OtherCodec = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The video is %s. Export it as H.264: in Expo Camera, videoCodec: "avc1"',
  415
)
export const OtherProfile = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'Phones cannot play this kind of H.264. Export the video with the profile High, Main or Baseline',
  415
)
export const HighDynamicRange = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The video is HDR. Turn HDR off in the camera settings, or export it with 8 bits per colour',
  415
)
export const OtherSound = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The sound of the video is %s. Export it with AAC, or without sound',
  415
)
export const EncryptedVideo = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The video is copy-protected. Choose one that you recorded yourself',
  415
)
export const PictureTooLarge = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The picture of the video is too large. Export it with at most 1920 x 1080 pixels',
  415
)
export const TooManyFrames = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The video has too many pictures a second. Export it with at most 60',
  415
)
export const BitRateTooHigh = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The bit rate of the video is too high. Export it with at most 12 Mbit/s',
  415
)
export const VideoTooLong = createError(
  'VALIDATION_ERROR',
  'The video is too long. Trim it to at most %s seconds',
  400
)
export const VideoTooShort = createError(
  'VALIDATION_ERROR',
  'The video is too short. Record at least one second',
  400
)
export const CorruptVideo = createError(
  'VALIDATION_ERROR',
  'The video is incomplete or damaged. Export it again, or choose another one',
  400
)
export const VideoTooLarge = createError('PAYLOAD_TOO_LARGE', 'The video must not be larger than %s MB', 413)
export const TooManyVideos = createError(
  'SERVICE_UNAVAILABLE',
  'Too many videos are being processed; try again shortly',
  503
)

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

translateErrors({
  NotMultipart,
  FileMissing,
  UnsupportedImage,
  CorruptImage,
  FileTooLarge,
  TooManyPixels,
  DecodedImageTooLarge,
  MalformedForm,
  TooManyImages,
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
  CorruptVideo,
  VideoTooLarge,
  TooManyVideos
}, {
  NotMultipart: 'Kirim berkas sebagai multipart/form-data',
  FileMissing: '%s wajib diisi: kirim berkas di kolom formulir ini',
  UnsupportedImage: 'Berkas harus berupa gambar JPEG, PNG, atau WebP dengan jenis konten yang sesuai',
  CorruptImage: 'Gambar rusak; pilih gambar lain',
  FileTooLarge: 'Berkas tidak boleh lebih dari 5 MB',
  TooManyPixels: 'Gambar tidak boleh lebih dari 40 juta piksel',
  DecodedImageTooLarge: 'Gambar terlalu besar setelah didekode; gunakan lebih sedikit piksel atau bit per kanal',
  MalformedForm: 'Formulir tidak lengkap atau salah; kirim kembali',
  TooManyImages: 'Terlalu banyak gambar sedang diproses; coba lagi sebentar lagi',
  NotAVideo: 'Berkas harus berupa video MP4 atau MOV. Ekspor sebagai MP4 dengan H.264',
  NoPicture: 'Berkas ini tidak memiliki gambar. Pilih video, bukan rekaman suara',
  SeveralPictures: 'Video ini memiliki beberapa gambar sekaligus. Ekspor dengan satu gambar',
  OtherCodec: 'Video ini adalah %s. Ekspor sebagai H.264: di Expo Camera, videoCodec: "avc1"',
  OtherProfile: 'Ponsel tidak dapat memutar jenis H.264 ini. Ekspor video dengan profil High, Main, atau Baseline',
  HighDynamicRange: 'Video ini HDR. Matikan HDR di pengaturan kamera, atau ekspor dengan 8 bit per warna',
  OtherSound: 'Suara video ini adalah %s. Ekspor dengan AAC, atau tanpa suara',
  EncryptedVideo: 'Video ini dilindungi hak cipta. Pilih video yang Anda rekam sendiri',
  PictureTooLarge: 'Gambar video terlalu besar. Ekspor dengan paling banyak 1920 x 1080 piksel',
  TooManyFrames: 'Video memiliki terlalu banyak gambar per detik. Ekspor dengan paling banyak 60',
  BitRateTooHigh: 'Laju bit video terlalu tinggi. Ekspor dengan paling banyak 12 Mbit/s',
  VideoTooLong: 'Video terlalu panjang. Potong menjadi paling lama %s detik',
  VideoTooShort: 'Video terlalu pendek. Rekam setidaknya satu detik',
  CorruptVideo: 'Video tidak lengkap atau rusak. Ekspor kembali, atau pilih yang lain',
  VideoTooLarge: 'Video tidak boleh lebih dari %s MB',
  TooManyVideos: 'Terlalu banyak video sedang diproses; coba lagi sebentar lagi'
})
