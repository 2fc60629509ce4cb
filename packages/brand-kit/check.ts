import { TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser'
import type { Brand } from './brand.ts'
import { parseMessage } from './messages.ts'

const MAX_TITLE_LENGTH = 65
const MAX_BODY_LENGTH = 178
/** A name, a number or a time. */
const VALUE_LENGTH = 16
/** What people wrote is cut by the phone. */
const QUOTED = ['excerpt', 'reason', 'title', 'body']
/** WCAG 2.2, for text. */
const MIN_CONTRAST = 4.5

/** What to mend in a brand that starts: texts that a locale lacks, pushes that a phone would cut, colours that few can read. */
export function checkBrand (brand: Brand): string[] {
  return [...findMissing(brand), ...findLongPushes(brand), ...findPaleColours(brand), ...findOtherNames(brand)]
}

const findMissing = ({ locales, texts }: Brand) =>
  locales.flatMap((locale) =>
    Object.keys(texts['en'] ?? {}).filter((key) => texts[locale]?.[key] === undefined)
      .map((key) => `texts/${locale}.json: ${key} is missing`)
  )

function findLongPushes ({ texts, locales }: Brand) {
  return locales.flatMap((locale) =>
    Object.entries(texts[locale] ?? {}).flatMap(([key, text]) => {
      const part = /^pushes\..*\.(title|body)$/.exec(key)?.[1]
      if (part === undefined) return []
      const max = part === 'title' ? MAX_TITLE_LENGTH : MAX_BODY_LENGTH
      const length = longestOf(parseMessage(text))
      return length > max
        ? [`texts/${locale}.json: ${key} has up to ${length} characters, and a phone shows ${max}`]
        : []
    })
  )
}

/** The length of the longest branch of a message. */
function longestOf (elements: MessageFormatElement[]): number {
  return elements.reduce((length, element) => {
    switch (element.type) {
      case TYPE.literal:
        return length + element.value.length
      case TYPE.select:
      case TYPE.plural:
        return length + Math.max(...Object.values(element.options).map(({ value }) => longestOf(value)))
      case TYPE.pound:
        return length + 2
      default:
        return length + (QUOTED.includes(element.value as string) ? 0 : VALUE_LENGTH)
    }
  }, 0)
}

function findPaleColours ({ colours }: Brand) {
  return Object.entries(colours).flatMap(([scheme, { accent, onAccent, background }]) =>
    ([['onAccent', onAccent], ['background', background]] as const).flatMap(([name, other]) => {
      const contrast = contrastOf(accent, other)
      return contrast < MIN_CONTRAST
        ? [`brand.json: colours.${scheme}.accent has a contrast of ${contrast.toFixed(1)} to ${name}; it needs 4.5`]
        : []
    })
  )
}

/** A name that the folder did not change would be that of another app. */
function findOtherNames (brand: Brand) {
  if (brand.name === 'Tandem') return []
  const { legalName, supportEmail, securityContact, fromAddress } = brand
  return Object.entries({ legalName, supportEmail, securityContact, fromAddress })
    .filter(([, value]) => /tandem/i.test(value)).map(([key]) => `brand.json: ${key} still names Tandem`)
}

function contrastOf (one: string, other: string) {
  const [lighter, darker] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

function luminanceOf (colour: string) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
