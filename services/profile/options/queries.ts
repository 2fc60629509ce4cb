import { sql } from 'kysely'
import { ValidationError, type Language } from '@tandem/service-kit'
import type { Db, OptionType, Trx } from '../tables.ts'

/** The options of a list that are offered, in order and in a language. */
export async function listOptions (db: Db, type: OptionType, language: Language) {
  return await db.selectFrom('options')
    .where('type', '=', type)
    .where('is_active', '=', sql<boolean>`true`)
    .select(['option_id as optionId', language === 'id' ? 'label_id as label' : 'label_en as label', 'icon', 'category', 'sort_order as sortOrder'])
    .orderBy('sort_order')
    .orderBy('option_id')
    .execute()
}

/** Those of `optionIds` that a list offers. */
export async function listOffered (db: Db, type: OptionType, optionIds: string[]) {
  const options = await db.selectFrom('options').where('type', '=', type).where('is_active', '=', sql<boolean>`true`)
    .where('option_id', '=', sql<string>`any(${optionIds}::text[])`)
    .select('option_id')
    .execute()
  return options.map((option) => option.option_id)
}

/** Every option, or those of a list, offered or not, with the labels in both languages. */
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
  'type', 'option_id as optionId', 'label_en as labelEn', 'label_id as labelId', 'icon', 'category', 'sort_order as sortOrder', 'is_active as isActive'
] as const

interface Choice { field: string, type: OptionType, chosen: string[] | undefined, known: string[] }

/**
 * Checks what was chosen against the lists. An option that is no longer offered stays valid for who has it.
 * @throws ValidationError that names the field
 */
export async function checkOptions (trx: Trx, choices: Choice[]) {
  const publishedEvents = choices.flatMap(({ type, chosen = [], known }) => chosen.filter((id) => !known.includes(id)).map((id) => ({ type, id })))
  if (publishedEvents.length === 0) return
  const offered = await trx.selectFrom('options').select(['type', 'option_id'])
    .where('is_active', '=', sql<boolean>`true`)
    .where('option_id', 'in', publishedEvents.map(({ id }) => id))
    .execute()
  for (const { field, type, chosen = [], known } of choices) {
    const isGood = (id: string) => known.includes(id) || offered.some((option) => option.type === type && option.option_id === id)
    if (!chosen.every(isGood)) throw new ValidationError(`${field} holds an option that is not offered`)
  }
}
