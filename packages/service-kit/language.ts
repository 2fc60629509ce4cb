import Negotiator from 'negotiator'
import type { FastifyRequest } from 'fastify'

/** The languages that the service's own texts are in; the first where a client asks for none of them. */
export const languages = ['en', 'id'] as const
export type Language = typeof languages[number]

/** The language a client would like best of those there are, by its Accept-Language. */
export function languageOf (request: FastifyRequest, fallback: Language = 'en'): Language {
  const wished = new Negotiator(request.raw).languages([...languages])[0]
  // Without the header every language is equally welcome.
  return request.headers['accept-language'] ? wished as Language | undefined ?? fallback : fallback
}
