import createError from '@fastify/error'
import { translateErrors } from './translations.ts'

/**
 * Something that the work needs is temporarily unavailable: another service, the file storage, the keys, or capacity.
 * http-kit responds with 503 and Retry-After; a consumer retries the event without counting the attempt.
 */
export const Unavailable = createError(
  'SERVICE_UNAVAILABLE',
  'The service is temporarily unavailable; try again shortly',
  503
)

translateErrors({ Unavailable }, { Unavailable: 'Layanan sedang tidak tersedia; coba lagi sebentar lagi' })
