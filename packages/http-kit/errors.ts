import { createError } from '@fastify/error'
import { translateErrors } from '@tandem/process-kit'
import type { Language } from './language.ts'

// Errors that any route of any service can return. A service's own errors.ts declares the errors that only it returns.
/** A sentence in every language of our texts. The English one begins with its field, if it is about one. */
export type Sentence = Readonly<Record<Language, string>>

export class ValidationError extends createError<'VALIDATION_ERROR', 400, [string]>('VALIDATION_ERROR', '%s', 400) {
  readonly sentence: Sentence

  constructor (sentence: Sentence) {
    super(sentence.en)
    this.sentence = sentence
  }
}

export const Unauthorized = createError('UNAUTHORIZED', 'This request needs an access token; sign in first', 401)
export const InvalidAccessToken = createError(
  'INVALID_ACCESS_TOKEN',
  'The access token is invalid or has expired; refresh it or sign in again',
  401
)
export const Forbidden = createError('FORBIDDEN', 'Your account is not allowed to do this', 403)
export const AccountRestricted = createError(
  'ACCOUNT_RESTRICTED',
  'Your account is restricted. See the standing of your account.',
  403
)
export const NotFound = createError('NOT_FOUND', 'Nothing was found at this path', 404)
export const MethodNotAllowed = createError('METHOD_NOT_ALLOWED', 'Method not allowed for this path', 405)
export const RequestTimeout = createError('REQUEST_TIMEOUT', 'The request took too long to arrive; send it again', 408)
/** Nobody reads it: the client is gone. */
export const ClientDisconnected = createError('REQUEST_TIMEOUT', 'The client disconnected before the response', 408)
export const PayloadTooLarge = createError('PAYLOAD_TOO_LARGE', 'The request is larger than this path accepts', 413)
export const UnsupportedMediaType = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The Content-Type of the request is not supported',
  415
)
/** The response has `storeUrl`, where to get a newer version, if it is known. */
export class UpgradeRequired extends createError(
  'UPGRADE_REQUIRED',
  'This version of the app is no longer supported. Please update the app',
  426
) {
  readonly responseFields: { storeUrl?: string }

  constructor (storeUrl?: string) {
    super()
    this.responseFields = storeUrl === undefined ? {} : { storeUrl }
  }
}
export const ServerError = createError('SERVER_ERROR', 'Something went wrong on our side', 500)

/** The response has the header Retry-After. */
export class RateLimited extends createError('RATE_LIMITED', 'Too many requests; try again later', 429) {
  readonly retryAfterSeconds: number

  constructor (retryAfterSeconds = 1) {
    super()
    this.retryAfterSeconds = retryAfterSeconds
  }
}

translateErrors({
  Unauthorized,
  InvalidAccessToken,
  Forbidden,
  AccountRestricted,
  NotFound,
  MethodNotAllowed,
  RequestTimeout,
  ClientDisconnected,
  PayloadTooLarge,
  UnsupportedMediaType,
  UpgradeRequired,
  ServerError,
  RateLimited
}, {
  Unauthorized: 'Permintaan ini memerlukan token akses; masuk terlebih dahulu',
  InvalidAccessToken: 'Token akses tidak valid atau sudah kedaluwarsa; perbarui atau masuk kembali',
  Forbidden: 'Akun Anda tidak diizinkan melakukan ini',
  AccountRestricted: 'Akun Anda dibatasi. Lihat status akun Anda.',
  NotFound: 'Tidak ada apa pun di alamat ini',
  MethodNotAllowed: 'Metode ini tidak diizinkan untuk alamat ini',
  RequestTimeout: 'Permintaan terlalu lama diterima; kirim kembali',
  ClientDisconnected: 'Klien memutus koneksi sebelum tanggapan dikirim',
  PayloadTooLarge: 'Permintaan lebih besar dari yang diterima alamat ini',
  UnsupportedMediaType: 'Content-Type permintaan ini tidak didukung',
  UpgradeRequired: 'Versi aplikasi ini tidak didukung lagi. Perbarui aplikasi',
  ServerError: 'Terjadi kesalahan di pihak kami',
  RateLimited: 'Terlalu banyak permintaan; coba lagi nanti'
})
