import Negotiator from 'negotiator'
import type { FastifyRequest } from 'fastify'

/** The languages of our texts. The first is the default for clients that accept none of them. */
export const LANGUAGES = ['en', 'id'] as const
export type Language = typeof LANGUAGES[number]

/** The supported language that the client's Accept-Language prefers; undefined if it names none. */
export function preferredLanguage (request: FastifyRequest): Language | undefined {
  // Several HTTP clients send `*` by default, which states no preference.
  return findLanguage(
    (request.headers['accept-language'] ?? '').split(',').filter((range) => !range.trim().startsWith('*')).join(',')
  )
}

/** Like `preferredLanguage`, with a fallback. */
export const languageOfRequest = (request: FastifyRequest, fallback: Language = 'en'): Language =>
  preferredLanguage(request) ?? fallback

/** The language for a locale such as `id-ID` or `id_ID`; English for unsupported locales and for null. */
export function languageOfLocale (locale: string | null): Language {
  return findLanguage(locale?.replace('_', '-') ?? '') ?? 'en'
}

/**
 * The language, script and region of a locale as phones send it, as a BCP 47 tag: `en_GB`, `en-US-u-hc-h23` and
 * `en_US@calendar=japanese` become en-GB and en-US. Undefined if it names no language.
 */
export function readLocale (text: string): string | undefined {
  try {
    const [tag = ''] = text.replaceAll('_', '-').split(/-?[^A-Za-z0-9-]/, 1)
    const { language, script, region } = new Intl.Locale(tag)
    return language === 'und' ? undefined : [language, script, region].filter(Boolean).join('-')
  } catch {
    return
  }
}

// Java, and therefore Android, still uses `in` for Indonesian.
function findLanguage (acceptLanguage: string): Language | undefined {
  const best = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages([...LANGUAGES, 'in'])[0]
  return best === 'in' ? 'id' : LANGUAGES.find((each) => each === best)
}
