import { parse, TYPE, type MessageFormatElement, type PluralElement } from '@formatjs/icu-messageformat-parser'

/** Given to every text. */
export const COMMON_PARAMS = ['brand']

interface Checked {
  file: string
  locale: string
  texts: Record<string, string>
  /** The built-in texts in English, which define the keys and the parameters of each. */
  english: Record<string, string>
}

/** What is wrong with texts: unknown keys, messages that are not ICU, parameters that nobody gives, missing plurals. */
export function findTextFaults ({ file, locale, texts, english }: Checked): string[] {
  return Object.entries(texts).flatMap(([key, text]) => {
    const source = english[key]
    if (source === undefined && !key.startsWith('options.')) return [`${file}: ${key} is unknown`]
    if (typeof text !== 'string') return [`${file}: ${key} must be a text`]
    try {
      const elements = parseMessage(text)
      const original = source === undefined ? [] : parseMessage(source)
      const given = listParams(original)
      const counted = listPlurals(original).filter(({ options }) => 'one' in options).map(({ value }) => value)
      return [
        ...listParams(elements).filter((name) => !given.includes(name) && !COMMON_PARAMS.includes(name))
          .map((name) => `${file}: ${key} has the placeholder {${name}}, which it is not given`),
        ...listMissingForms(elements, counted, locale).map((form) => `${file}: ${key} lacks the plural form ${form}`)
      ]
    } catch (error) {
      return [`${file}: ${key} is not an ICU message: ${(error as Error).message}`]
    }
  })
}

/** Texts have no tags: a `<` is only that. */
export const parseMessage = (text: string) => parse(text, { ignoreTag: true })

/** The names of the parameters of a message. */
export function listParams (elements: MessageFormatElement[]): string[] {
  return [
    ...new Set(elements.flatMap((element) => {
      switch (element.type) {
        case TYPE.literal:
        case TYPE.pound:
        case TYPE.tag:
          return []
        case TYPE.select:
        case TYPE.plural:
          return [element.value, ...Object.values(element.options).flatMap(({ value }) => listParams(value))]
        default:
          return [element.value]
      }
    }))
  ]
}

/** Whole numbers alone: Spanish has a form for a million of something, which no text counts. */
const pluralFormsOf = (locale: string) => {
  const rules = new Intl.PluralRules(locale)
  return [...new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)))]
}

/** A text in which English has no form of its own for one needs none in another language. */
function listMissingForms (elements: MessageFormatElement[], counted: string[], locale: string): string[] {
  return listPlurals(elements).filter(({ value }) => counted.includes(value)).flatMap(({ options }) => {
    // `=1` serves the languages in which nothing else is `one`.
    const covered = [...Object.keys(options), ...'=1' in options ? ['one'] : []]
    return pluralFormsOf(locale).filter((form) => !covered.includes(form))
  })
}

function listPlurals (elements: MessageFormatElement[]): PluralElement[] {
  return elements.flatMap((element) =>
    element.type === TYPE.select || element.type === TYPE.plural
      ? [
        ...element.type === TYPE.plural && element.pluralType !== 'ordinal' ? [element] : [],
        ...Object.values(element.options).flatMap(({ value }) => listPlurals(value))
      ]
      : []
  )
}
