import { textsOf, type OptionList } from '@tandem/brand-kit'
import { sql, type UpdateObject } from 'kysely'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import { OptionExists, OptionNotFound } from '../errors.ts'
import type { Db, Tables, Trx } from '../tables.ts'
import { optionColumns, withLabels, type Labels } from './queries.ts'

interface NewOption {
  type: OptionList
  optionId: string
  labels: Labels
  icon: string
  category?: string | null
  sortOrder?: number
}
interface OptionChange {
  labels?: Labels
  icon?: string
  category?: string | null
  sortOrder?: number
  isActive?: boolean
}

/**
 * Adds an option at `sortOrder`, or at the end of its list; once per idempotency key.
 * @throws OptionExists, ValidationError
 */
export async function addOption (
  db: Db,
  adminId: string,
  { type, optionId, labels, icon, category = null, sortOrder }: NewOption,
  key?: IdempotencyKey
) {
  return await withIdempotencyKey(db, key, async (trx) => {
    await checkCategory(trx, type, category)
    const last = sql<number>`(select coalesce(max(sort_order), 0) + 1 from options where type = ${type})`
    const option = await trx.insertInto('options')
      .values({
        type,
        option_id: optionId,
        labels: JSON.stringify(labels),
        icon,
        category,
        sort_order: sortOrder ?? last
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning(optionColumns)
      .executeTakeFirst()
    if (!option) throw new OptionExists()
    await logChange(trx, { adminId, action: 'CREATE', before: null, after: option })
    return withLabels(option)
  })
}

/**
 * Changes an option. An inactive option is no longer offered, and people who have chosen it keep it. An active one is
 * offered, even if the list of the brand no longer has it.
 * @throws OptionNotFound
 */
export async function changeOption (
  db: Db,
  adminId: string,
  { type, optionId }: { type: OptionList, optionId: string },
  change: OptionChange
) {
  return await db.transaction().execute(async (trx) => {
    const before = await trx.selectFrom('options').select(optionColumns)
      .where('type', '=', type).where('option_id', '=', optionId)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw new OptionNotFound()
    if (change.category !== undefined) await checkCategory(trx, type, change.category)

    const set: UpdateObject<Tables, 'options'> = {
      ...(change.labels !== undefined && { labels: changeLabels({ type, optionId }, change.labels) }),
      ...(change.icon !== undefined && { icon: change.icon }),
      ...(change.category !== undefined && { category: change.category }),
      ...(change.sortOrder !== undefined && { sort_order: change.sortOrder }),
      ...(change.isActive !== undefined && { is_active: change.isActive }),
      ...(change.isActive && { is_listed: true }),
      updated_at: sql`now()`
    }
    const after = await trx.updateTable('options').set(set)
      .where('type', '=', type).where('option_id', '=', optionId)
      .returning(optionColumns)
      .executeTakeFirstOrThrow()
    await logChange(trx, { adminId, action: change.isActive === false ? 'DEACTIVATE' : 'UPDATE', before, after })
    return withLabels(after)
  })
}

/** The labels in other locales stay. One that is the text of the brand is not stored, so that it follows the brand. */
function changeLabels ({ type, optionId }: { type: OptionList, optionId: string }, labels: Labels) {
  const isOfBrand = ([locale, label]: [string, string]) => {
    const texts = textsOf(locale)
    return texts.locale === locale && texts.find(`options.${type}.${optionId}`) === label
  }
  const all = Object.entries(labels)
  const own = Object.fromEntries(all.filter((each) => !isOfBrand(each)))
  const ofBrand = all.filter(isOfBrand).map(([locale]) => locale)
  return sql<string>`(labels || ${JSON.stringify(own)}::jsonb) - ${ofBrand}::text[]`
}

/** A sport has one of the sport categories; other options have none. */
async function checkCategory (trx: Trx, type: OptionList, category: string | null) {
  if (type !== 'sport') {
    if (category !== null) {
      throw new ValidationError('categoryIsForSportsOnly', ['category'])
    }
    return
  }
  const sportCategory = await trx.selectFrom('options').select('option_id').where('type', '=', 'sport_category').where(
    'option_id',
    '=',
    category ?? ''
  ).executeTakeFirst()
  if (!sportCategory) {
    throw new ValidationError('categoryMustBeSportCategory', ['category'])
  }
}

type Option = { type: OptionList, optionId: string }
interface Change {
  adminId: string
  action: 'CREATE' | 'UPDATE' | 'DEACTIVATE'
  before: Option | null
  after: Option
}

async function logChange (trx: Trx, { adminId, action, before, after }: Change) {
  await trx.insertInto('option_changes').values({
    admin_id: adminId,
    type: after.type,
    option_id: after.optionId,
    action,
    before: before && JSON.stringify(before),
    after: JSON.stringify(after)
  }).execute()
}
