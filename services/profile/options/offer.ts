import { readBrand, OPTION_LISTS } from '@tandem/brand-kit'
import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/**
 * Offers the lists of the brand. An option that a list no longer has stays with those who chose it. What operators
 * changed stays as they left it.
 */
export async function offerListsOfBrand (db: Db) {
  const { options } = readBrand().brand
  for (const type of OPTION_LISTS) {
    const listed = options[type]
    await db.transaction().execute(async (trx) => {
      await trx.insertInto('options')
        .values(listed.map(({ id, icon, category = null, sortOrder }) => ({
          type,
          option_id: id,
          icon: icon ?? '',
          category,
          sort_order: sortOrder
        })))
        .onConflict((conflict) =>
          conflict.columns(['type', 'option_id']).doUpdateSet({
            icon: sql`excluded.icon`,
            category: sql`excluded.category`,
            sort_order: sql`excluded.sort_order`,
            is_listed: true
          }).where(isUnchanged)
        )
        .execute()
      await trx.updateTable('options').set({ is_listed: false })
        .where('type', '=', type).where('is_listed', '=', true).where(isUnchanged)
        .where('option_id', '<>', sql<string>`all(${listed.map(({ id }) => id)}::text[])`)
        .execute()
    })
  }
}

const isUnchanged = sql<boolean>`not exists (
  select from option_changes where option_changes.type = options.type and option_changes.option_id = options.option_id)`
