import Negotiator from 'negotiator'
import type { FastifyRequest } from 'fastify'

/** The languages that the service's own texts are in; the first where a client asks for none of them. */
export const LANGUAGES = ['en', 'id'] as const
export type Language = typeof LANGUAGES[number]

/** The language a client would like best of those there are, by its Accept-Language; undefined when it names none of them. */
export function preferredLanguage (request: FastifyRequest): Language | undefined {
  // Several HTTP clients say `*` unasked, which prefers none.
  return findLanguage((request.headers['accept-language'] ?? '').split(',').filter((wish) => !wish.trim().startsWith('*')).join(','))
}

/** The same, or else `fallback`. */
export const languageOfRequest = (request: FastifyRequest, fallback: Language = 'en'): Language => preferredLanguage(request) ?? fallback

/** The language of somebody with a locale such as `id-ID` or `id_ID`; whoever has another than ours, or none, reads English. */
export function languageOfLocale (locale: string | null): Language {
  return findLanguage(locale?.replace('_', '-') ?? '') ?? 'en'
}

// Java, and so Android, still says `in` for Indonesian.
function findLanguage (wishes: string): Language | undefined {
  const best = new Negotiator({ headers: { 'accept-language': wishes } }).languages([...LANGUAGES, 'in'])[0]
  return best === 'in' ? 'id' : LANGUAGES.find((each) => each === best)
}
