import { IntlMessageFormat, type Formatters } from 'intl-messageformat'
import { setBounded } from '@tandem/process-kit'
import type { Brand, TextKey } from './brand.ts'
import { matchLocale, readAcceptLanguage } from './locales.ts'
import { COMMON_PARAMS, listParams } from './messages.ts'

export type TextParams = Record<string, string | number | bigint | boolean | null | undefined>

/** The texts below a prefix, by the rest of their keys. */
export type TextGroup<Prefix extends string> = {
  [Key in TextKey as Key extends `${Prefix}.${infer Name}` ? Name : never]: string
}

/** The texts of one locale. */
export interface LocalTexts {
  locale: string
  /** The text of `key`, with `params` and the name of the brand in it. */
  format: (key: TextKey, params?: TextParams) => string
  /** Undefined if there is no such text, in this locale and the default one. */
  find: (key: string, params?: TextParams) => string | undefined
  /** All texts below a prefix, without those that need other parameters. */
  group: <Prefix extends string>(prefix: Prefix, params?: TextParams) => TextGroup<Prefix>
}

export interface Texts {
  locales: readonly string[]
  defaultLocale: string
  /** The texts for a person's locale such as `id_ID`; those of the default locale if it is not offered, or null. */
  of: (locale: string | null | undefined) => LocalTexts
  /** The offered locale that the header Accept-Language prefers; undefined if it names none. */
  negotiate: (acceptLanguage: string | undefined) => string | undefined
}

const MAX_CACHED = 1_000
// Far more than people have languages. A header may have 16 KiB, and to read thousands of languages takes a while.
const MAX_HEADER_CHARACTERS = 200

/** Called at the first use of a text that a locale lacks. */
type OnMissing = (missing: { key: string, locale: string, usedLocale: string }) => void

/** The texts of a brand. A text that a locale lacks is that of the default locale, and then of English. */
export function createTexts (brand: Brand, onMissing: OnMissing = () => {}): Texts {
  const { locales, defaultLocale } = brand
  const local = new Map(locales.map((locale) => [locale, localTexts(brand, locale, onMissing)]))
  const matchCached = cached((locale: string) => matchLocale([locale], locales))
  const negotiate = cached((header: string) => matchLocale(readAcceptLanguage(header), locales))
  return {
    locales,
    defaultLocale,
    negotiate: (header) => header === undefined ? undefined : negotiate(header.slice(0, MAX_HEADER_CHARACTERS)),
    of: (locale) => local.get((locale && (local.has(locale) ? locale : matchCached(locale))) || defaultLocale)!
  }
}

/** Clients choose the keys, so the cache is bounded. */
function cached<Value> (compute: (key: string) => Value) {
  const values = new Map<string, Value>()
  return (key: string) => {
    if (!values.has(key)) setBounded(values, key, compute(key), MAX_CACHED)
    return values.get(key) as Value
  }
}

/**
 * The formatters of one locale. Those of the library make a key of their arguments each time, which is half of the time
 * that a text with a number takes.
 */
function createFormatters (locale: string): Formatters {
  const numbers = new Map<object | undefined, Intl.NumberFormat>()
  const plurals = new Map<string | undefined, Intl.PluralRules>()
  return {
    // Options are those of a message, which is compiled once.
    getNumberFormat: (_locales, options) =>
      numbers.getOrInsertComputed(options, () => new Intl.NumberFormat(locale, options)),
    getDateTimeFormat: (_locales, options) => new Intl.DateTimeFormat(locale, options),
    getPluralRules: (_locales, options) =>
      plurals.getOrInsertComputed(options?.type, () => new Intl.PluralRules(locale, options))
  }
}

function localTexts ({ name, texts, defaultLocale }: Brand, locale: string, onMissing: OnMissing): LocalTexts {
  const messages = new Map<string, string | IntlMessageFormat>()
  const sources = [locale, defaultLocale, 'en']
  const formatters = new Map<string, Formatters>()

  function compile (key: string) {
    const source = sources.find((each) => texts[each]?.[key] !== undefined)
    if (source === undefined) return
    if (source !== locale) onMissing({ key, locale, usedLocale: source })
    const text = texts[source]![key]!
    const options = { ignoreTag: true, formatters: formatters.getOrInsertComputed(source, createFormatters) }
    const message = /[{']/.test(text) ? new IntlMessageFormat(text, source, undefined, options) : text
    messages.set(key, message)
    return message
  }

  function find (key: string, params?: TextParams) {
    const message = messages.get(key) ?? compile(key)
    return typeof message === 'object' ? String(message.format({ brand: name, ...params })) : message
  }

  function group<Prefix extends string> (prefix: Prefix, params: TextParams = {}) {
    const given = [...COMMON_PARAMS, ...Object.keys(params)]
    const entries = Object.keys(texts['en'] ?? {}).filter((key) => key.startsWith(`${prefix}.`)).flatMap((key) => {
      const message = messages.get(key) ?? compile(key)
      const needed = typeof message === 'object' ? listParams(message.getAst()) : []
      return needed.every((name) => given.includes(name)) ? [[key.slice(prefix.length + 1), find(key, params)]] : []
    })
    return Object.fromEntries(entries) as TextGroup<Prefix>
  }

  return {
    locale,
    find,
    group,
    format: (key, params) => find(key, params) ?? key
  }
}
