import { match } from '@formatjs/intl-localematcher'
import Negotiator from 'negotiator'

const NONE = 'und'

/** The locales that a client accepts, the preferred one first. Several HTTP clients send `*`, which states none. */
export const readAcceptLanguage = (header: string | undefined) =>
  new Negotiator({ headers: { 'accept-language': header ?? '' } }).languages().filter((range) => range !== '*')

/** The first of `wanted` that `offered` has, or has in another region; undefined if there is none. */
export function matchLocale (wanted: string[], offered: readonly string[]): string | undefined {
  const valid = wanted.flatMap((each) => readLocale(each) ?? [])
  const best = match(valid, offered, NONE, { algorithm: 'lookup' })
  return best === NONE ? undefined : best
}

/**
 * The language, script and region of a locale as phones send it, as a BCP 47 tag: `en_GB`, `en-US-u-hc-h23` and
 * `en_US@calendar=japanese` become en-GB and en-US. Java, and therefore Android, still uses `in` for Indonesian, which
 * becomes `id`. Undefined if it names no language.
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
