import { QuietHoursEmpty } from '../errors.ts'
import { noticeTypes } from '../inbox/kinds.ts'
import type { Categories, Db } from '../tables.ts'
import { readPreferences } from './queries.ts'
import type { QuietHours } from './quiet-hours.ts'

export interface Change { categories?: Categories, quietHours?: Partial<QuietHours> }

/**
 * Changes what is named and leaves the rest.
 * @throws QuietHoursEmpty
 */
export async function changePreferences (db: Db, accountId: string, { categories = {}, quietHours = {} }: Change) {
  return await db.transaction().execute(async (trx) => {
    await trx.insertInto('preferences')
      .values({ account_id: accountId, categories: '{}', quiet: false, quiet_start: '22:00', quiet_end: '07:00' })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await trx.selectFrom('preferences').where('account_id', '=', accountId).select('account_id').forUpdate().execute()

    const before = await readPreferences(trx, accountId)
    const after = {
      categories: Object.fromEntries(noticeTypes.map((type) => [type, { ...before.categories[type], ...categories[type] }])) as typeof before.categories,
      quietHours: { ...before.quietHours, ...quietHours }
    }
    const { enabled, start, end } = after.quietHours
    if (start === end) throw new QuietHoursEmpty()
    await trx.updateTable('preferences')
      .set({ categories: JSON.stringify(after.categories), quiet: enabled, quiet_start: start, quiet_end: end })
      .where('account_id', '=', accountId)
      .execute()
    return after
  })
}
