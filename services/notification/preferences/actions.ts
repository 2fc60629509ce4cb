import { EmptyQuietHours } from '../errors.ts'
import { notificationTypes } from '../texts/types.ts'
import type { Categories, Db } from '../tables.ts'
import { readPreferences } from './queries.ts'
import type { QuietHours } from '../notifications/quiet-hours.ts'

export interface PreferencesChange {
  categories?: Categories
  quietHours?: Partial<QuietHours>
}

/**
 * Changes the given settings and keeps the others.
 * @throws EmptyQuietHours
 */
export async function changePreferences (
  db: Db,
  accountId: string,
  { categories = {}, quietHours = {} }: PreferencesChange
) {
  return await db.transaction().execute(async (trx) => {
    // Creates the row, or locks it.
    await trx.insertInto('preferences').values({ account_id: accountId })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ account_id: accountId }))
      .execute()
    const before = await readPreferences(trx, accountId)
    const after = {
      categories: Object.fromEntries(
        notificationTypes.map((type) => [type, { ...before.categories[type], ...categories[type] }])
      ) as typeof before.categories,
      quietHours: { ...before.quietHours, ...quietHours }
    }
    const { enabled, start, end } = after.quietHours
    if (start === end) throw new EmptyQuietHours()
    await trx.updateTable('preferences')
      .set({
        categories: JSON.stringify(after.categories),
        quiet_hours_enabled: enabled,
        quiet_hours_start: start,
        quiet_hours_end: end
      })
      .where('account_id', '=', accountId)
      .execute()
    return after
  })
}
