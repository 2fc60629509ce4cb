import { type NotificationType, notificationTypes } from '../texts/types.ts'
import type { QuietHours } from '../notifications/quiet-hours.ts'
import type { Categories, Db } from '../tables.ts'

export interface Preferences {
  categories: Record<NotificationType, { push: boolean, inApp: boolean }>
  quietHours: QuietHours
}

// As the columns have them.
const defaults: QuietHours & { categories: Categories } = {
  categories: {},
  enabled: false,
  start: '22:00',
  end: '07:00'
}

/** An account's preferences. By default every category is on and quiet hours are off. */
export async function readPreferences (db: Db, accountId: string): Promise<Preferences> {
  const stored = await db.selectFrom('preferences').where('account_id', '=', accountId)
    .select(['categories', 'quiet_hours_enabled as enabled', 'quiet_hours_start as start', 'quiet_hours_end as end'])
    .executeTakeFirst()
  const { categories, ...quietHours } = stored ?? defaults
  return {
    categories: Object.fromEntries(
      notificationTypes.map((type) => [type, { push: true, inApp: true, ...categories[type] }])
    ) as Preferences['categories'],
    quietHours
  }
}
