import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ConfigError } from '@tandem/process-kit'
import { type Static, Type } from 'typebox'
import { Errors } from 'typebox/value'
import type english from '../../brand/texts/en.json'
import { findTextFaults } from './messages.ts'
import { Features, Limits, withoutOrphans } from './product.ts'

/** Every key of a text. `brand/texts/en.json` defines them, with the parameters of each. */
export type TextKey = keyof typeof english

const Colour = Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'a colour such as #0f7a5c' })
const Colours = Type.Object({ accent: Colour, onAccent: Colour, background: Colour }, { additionalProperties: false })
const Address = Type.String({ pattern: '^https://[^\\s"<>]+$', description: 'an address that begins with https://' })
const File = Type.String({ pattern: '^[\\w-]+\\.(svg|png)$', description: 'a file of this folder, such as logo.svg' })
const Name = Type.String({ minLength: 1, maxLength: 40, description: 'a name of 1 to 40 characters' })
const Locale = Type.String({ pattern: '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$', description: 'a locale such as en' })
const Mailbox = Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', description: 'an email address' })

const BrandFile = Type.Object({
  name: Name,
  /** The developer, as the stores name them. */
  legalName: Type.String({ minLength: 1, maxLength: 100, description: 'a name of 1 to 100 characters' }),
  supportEmail: Mailbox,
  /** Where people report vulnerabilities. */
  securityContact: Type.String({
    pattern: '^(mailto:[^\\s@]+@|https://|tel:\\+)[^\\s]+$',
    description: 'an address that begins with mailto:, https:// or tel:+'
  }),
  /** Of every mail: `Fitly <hello@fitly.example>`. */
  fromAddress: Type.String({
    pattern: '^([^<>]+ <)?[^\\s@<>]+@[^\\s@<>]+>?$',
    description: 'an address such as Fitly <hello@fitly.example>'
  }),
  colours: Type.Object({ light: Colours, dark: Colours }, { additionalProperties: false }),
  logo: Type.Optional(Type.Object({ svg: File, png: File }, { additionalProperties: false })),
  links: Type.Partial(
    Type.Object({ website: Address, terms: Address, privacy: Address, iosStore: Address, androidStore: Address }),
    { additionalProperties: false }
  ),
  features: Features,
  limits: Limits,
  defaultLocale: Locale,
  locales: Type.Array(Locale, { minItems: 1, description: 'a list of locales' })
}, { additionalProperties: false })

type BrandFile = Static<typeof BrandFile>

/** An entry of a list that people choose from. Its label is the text `options.<list>.<id>`. */
export interface Option {
  id: string
  icon: string | null
  category?: string
  sortOrder: number
}

const OptionsFile = Type.Array(
  Type.Object({
    id: Type.String({ pattern: '^[a-z0-9_]{1,50}$', description: 'an id such as rock_climbing' }),
    icon: Type.Union([Type.String({ maxLength: 20 }), Type.Null()]),
    category: Type.Optional(Type.String()),
    sortOrder: Type.Integer({ minimum: 0 })
  }, { additionalProperties: false }),
  { minItems: 1, description: 'a list of at least one option' }
)

export const OPTION_LISTS = [
  'motivation',
  'activity_style',
  'sport_category',
  'sport',
  'availability',
  'fitmatch_interest'
] as const
export type OptionList = typeof OPTION_LISTS[number]

export interface Brand extends Omit<BrandFile, 'logo'> {
  /** The texts of each locale, by key. Those of English are complete; the default locale serves what another lacks. */
  texts: Record<string, Record<string, string>>
  options: Record<OptionList, Option[]>
  mailLayout: string
  logo?: { svg: Buffer, png: Buffer }
}

/** The brand that the images contain. */
export const BUILT_IN = path.join(import.meta.dirname, '../../brand')

/**
 * Reads a brand. What `folder` does not have, the built-in brand has.
 * @throws ConfigError that names each file, key and fault, one per line
 */
export function loadBrand (folder = BUILT_IN): Brand {
  if (!existsSync(folder)) throw new ConfigError(`BRAND_DIR names a folder that does not exist: ${folder}`)
  const faults = folder === BUILT_IN ? [] : findUnknownFiles(folder)
  const file = readBrandFile(folder, faults)
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))

  const { logo, ...settings } = file
  const texts: Brand['texts'] = {}
  const english = readTexts(BUILT_IN, 'texts/en.json', faults)
  for (const locale of file.locales) {
    const name = `texts/${locale}.json`
    const builtIn = readTexts(BUILT_IN, name, faults)
    const own = folder === BUILT_IN ? [] : Object.entries(readTexts(folder, name, faults))
    // The tests have checked the others.
    const changed = Object.fromEntries(own.filter(([key, text]) => text !== builtIn[key]))
    faults.push(...findTextFaults({ file: name, locale, texts: changed, english }))
    texts[locale] = { ...builtIn, ...changed }
  }
  texts['en'] ??= english
  const options = Object.fromEntries(OPTION_LISTS.map((list) => [list, readOptions(folder, list, faults)]))
  const readLogo = (name: string) => readFileSync(fileOf(folder, name))
  const brand = {
    ...settings,
    features: withoutOrphans(settings.features),
    texts,
    options: options as Brand['options'],
    mailLayout: readFileSync(fileOf(folder, 'mails/layout.html'), 'utf8'),
    ...logo && { logo: { svg: readLogo(logo.svg), png: readLogo(logo.png) } }
  }
  for (const slot of ['title', 'content', 'footer']) {
    if (!brand.mailLayout.includes(`{{${slot}}}`)) faults.push(`mails/layout.html lacks the slot {{${slot}}}`)
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return brand
}

/** A file of `folder`. Keys of a ConfigMap have no slashes: there, `texts.es.json` is texts/es.json. */
const findFile = (folder: string, name: string) =>
  [name, name.replaceAll('/', '.')].map((each) => path.join(folder, each)).find((file) => existsSync(file))

/** The file of `folder`, or the built-in one. */
const fileOf = (folder: string, name: string) => findFile(folder, name) ?? path.join(BUILT_IN, name)

function readJson (file: string, name: string, faults: string[]): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    faults.push(`${name} is not JSON: ${(error as Error).message}`)
  }
}

function readBrandFile (folder: string, faults: string[]): BrandFile {
  const builtIn = readJson(path.join(BUILT_IN, 'brand.json'), 'brand.json', faults) as BrandFile
  const ownFile = findFile(folder, 'brand.json')
  const own = (ownFile ? readJson(ownFile, 'brand.json', faults) ?? {} : {}) as Partial<BrandFile>
  const file = {
    ...builtIn,
    ...own,
    colours: {
      light: { ...builtIn.colours.light, ...own.colours?.light },
      dark: { ...builtIn.colours.dark, ...own.colours?.dark }
    },
    features: { ...builtIn.features, ...own.features },
    limits: { ...builtIn.limits, ...own.limits }
  }
  faults.push(...describeFaults('brand.json', BrandFile, file))
  if (!file.locales.includes(file.defaultLocale)) {
    faults.push(`brand.json: locales must contain ${file.defaultLocale}, the defaultLocale`)
  }
  for (const name of Object.values(file.logo ?? {})) {
    if (!existsSync(path.join(folder, name))) faults.push(`brand.json: logo names ${name}, which is not in the folder`)
  }
  return file
}

function describeFaults (file: string, schema: Type.TSchema, value: unknown) {
  return Errors(schema, value).flatMap((error) => {
    const at = error.instancePath.slice(1).replaceAll('/', '.')
    const { additionalProperties = [], requiredProperties = [] } = error.params as {
      additionalProperties?: string[],
      requiredProperties?: string[]
    }
    const name = (key: string) => at === '' ? key : `${at}.${key}`
    if (error.keyword === 'additionalProperties') {
      return additionalProperties.map((key) => `${file}: ${name(key)} is unknown`)
    }
    if (error.keyword === 'boolean') return []
    if (error.keyword === 'required') return requiredProperties.map((key) => `${file}: ${name(key)} is missing`)
    return [`${file}: ${at && `${at} `}${describe(schema, error.instancePath) ?? error.message}`]
  })
}

/** What the schema of a value says that it must be. */
function describe (schema: Type.TSchema, instancePath: string) {
  let at: unknown = schema
  for (const step of instancePath.split('/').slice(1)) {
    const { properties, items } = at as { properties?: Record<string, unknown>, items?: unknown }
    at = properties?.[step] ?? items
  }
  const { description } = (at ?? {}) as { description?: string }
  return description && `must be ${description}`
}

/** The texts of a file of `folder`, by key; none if it has no such file. */
export function readTexts (folder: string, name: string, faults: string[]): Record<string, string> {
  const file = findFile(folder, name)
  return (file ? readJson(file, name, faults) ?? {} : {}) as Record<string, string>
}

function readOptions (folder: string, list: OptionList, faults: string[]): Option[] {
  const name = `options/${list}.json`
  const options = readJson(fileOf(folder, name), name, faults)
  const found = describeFaults(name, OptionsFile, options)
  faults.push(...found)
  if (found.length > 0) return []
  const ids = (options as Option[]).map(({ id }) => id)
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) < index) {
      faults.push(`${name}: ${index}.id must be another than ${id}, which the list has already`)
    }
  }
  return options as Option[]
}

/** A misspelt file would silently leave the built-in one in place. */
function findUnknownFiles (folder: string) {
  const ofLocales = ['texts/<locale>.json', 'texts/exercises/<locale>.json']
  const known = new Set(['mails/layout.html', ...OPTION_LISTS.map((list) => `options/${list}.json`)])
  const names = ['texts', 'texts/exercises', 'options', 'mails'].flatMap((each) => {
    const inner = path.join(folder, each)
    return existsSync(inner) ? readdirSync(inner).map((name) => `${each}/${name}`) : []
  })
  return names
    // A ConfigMap has links in a folder of its own, whose name begins with two dots.
    .filter((name) => !known.has(name) && !/^texts\/(exercises|(exercises\/)?[\w-]+\.json)$|\/\.\./.test(name))
    .map((name) => `${name} is unknown; the files are ${[...ofLocales, ...known].join(', ')}`)
}
