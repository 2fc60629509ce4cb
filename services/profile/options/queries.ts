import { sql } from 'kysely'
import { ValidationError, type Language } from '@tandem/http-kit'
import type { Db, OptionType, Trx } from '../tables.ts'

/** The offered options of a list, in order, with their labels in `language`. */
export async function listOptions (db: Db, type: OptionType, language: Language) {
  return await db.selectFrom('options')
    .where('type', '=', type)
    .where('is_active', '=', sql<boolean>`true`)
    .select([
      'option_id as optionId',
      language === 'id' ? 'label_id as label' : 'label_en as label',
      'icon',
      'category',
      'sort_order as sortOrder'
    ])
    .orderBy('sort_order')
    .orderBy('option_id')
    .execute()
}

/** The `optionIds` that a list offers. */
export async function listOffered (db: Db, type: OptionType, optionIds: string[]) {
  const options = await db.selectFrom('options').where('type', '=', type).where('is_active', '=', sql<boolean>`true`)
    .where('option_id', '=', sql<string>`any(${optionIds}::text[])`)
    .select('option_id')
    .execute()
  return options.map((option) => option.option_id)
}

/** All options, or those of one list, offered or not, with their labels in both languages. */
export async function listAllOptions (db: Db, type: OptionType | undefined) {
  return await db.selectFrom('options')
    .select(optionColumns)
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? 'sport'))
    .orderBy('type')
    .orderBy('sort_order')
    .orderBy('option_id')
    .execute()
}

export const optionColumns = [
  'type',
  'option_id as optionId',
  'label_en as labelEn',
  'label_id as labelId',
  'icon',
  'category',
  'sort_order as sortOrder',
  'is_active as isActive'
] as const

interface Choice {
  field: string
  type: OptionType
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
    .where('is_active', '=', sql<boolean>`true`)
    .where('option_id', 'in', added.map(({ id }) => id))
    .execute()
  for (const { field, type, chosen = [], current } of choices) {
    const isValid = (id: string) =>
      current.includes(id) || offered.some((option) => option.type === type && option.option_id === id)
    if (!chosen.every(isValid)) {
      throw new ValidationError({
        en: `${field} contains an option that is not offered`,
        id: `${field} berisi pilihan yang tidak ditawarkan`
      })
    }
  }
}
