import { readBrand, textsOf, type LocalTexts, type OptionList } from '@tandem/brand-kit'
import { sql } from 'kysely'
import { ValidationError } from '@tandem/http-kit'
import type { Db, Trx } from '../tables.ts'

/** By locale. */
export type Labels = Record<string, string>

/** The offered options of a list, in order, with their labels in `language`. */
export async function listOptions (db: Db, type: OptionList, language: string) {
  const texts = textsOf(language)
  const options = await db.selectFrom('options')
    .where('type', '=', type)
    .where(isOffered)
    .select(['option_id as optionId', 'labels', 'icon', 'category', 'sort_order as sortOrder'])
    .orderBy('sort_order')
    .orderBy('option_id')
    .execute()
  return options.map(({ labels, ...option }) => ({ ...option, label: labelOf({ type, ...option, labels }, texts) }))
}

/** The operators' label, or the text of the brand; for an option without a text, a label in another language. */
const labelOf = (
  { type, optionId, labels }: { type: OptionList, optionId: string, labels: Labels },
  texts: LocalTexts
) =>
  labels[texts.locale] ?? texts.find(`options.${type}.${optionId}`) ?? labels[readBrand().texts.defaultLocale] ??
    Object.values(labels)[0] ?? optionId

const isOffered = sql<boolean>`is_active and is_listed`

/** The `optionIds` that a list offers. */
export async function listOffered (db: Db, type: OptionList, optionIds: string[]) {
  const options = await db.selectFrom('options').where('type', '=', type).where(isOffered)
    .where('option_id', '=', sql<string>`any(${optionIds}::text[])`)
    .select('option_id')
    .execute()
  return options.map((option) => option.option_id)
}

/** All options, or those of one list, offered or not, with their labels in each language. */
export async function listAllOptions (db: Db, type: OptionList | undefined) {
  const options = await db.selectFrom('options')
    .select(optionColumns)
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? 'sport'))
    .orderBy('type')
    .orderBy('sort_order')
    .orderBy('option_id')
    .execute()
  return options.map(withLabels)
}

/** Adds the texts of the brand to the labels of an option. */
export function withLabels<Option extends { type: OptionList, optionId: string, labels: Labels }> (option: Option) {
  const { locales, of } = readBrand().texts
  const labels = Object.fromEntries(locales.map((locale) => [locale, labelOf(option, of(locale))]))
  return { ...option, labels: { ...option.labels, ...labels } }
}

export const optionColumns = [
  'type',
  'option_id as optionId',
  'labels',
  'icon',
  'category',
  'sort_order as sortOrder',
  sql<boolean>`is_active and is_listed`.as('isActive')
] as const

interface Choice {
  field: string
  type: OptionList
  chosen: string[] | undefined
  current: string[]
}

/**
 * Checks chosen options against the lists. An option that is no longer offered stays valid for people who already have
 * it.
 * @throws ValidationError with the name of the field
 */
export async function validateOptions (trx: Trx, choices: Choice[]) {
  const added = choices.flatMap(({ type, chosen = [], current }) =>
    chosen.filter((id) => !current.includes(id)).map((id) => ({ type, id }))
  )
  if (added.length === 0) return
  const offered = await trx.selectFrom('options').select(['type', 'option_id'])
    .where(isOffered)
    .where('option_id', 'in', added.map(({ id }) => id))
    .execute()
  for (const { field, type, chosen = [], current } of choices) {
    const isValid = (id: string) =>
      current.includes(id) || offered.some((option) => option.type === type && option.option_id === id)
    if (!chosen.every(isValid)) {
      throw new ValidationError('fieldContainsOptionThatIsNotOffered', [field], { field })
    }
  }
}
