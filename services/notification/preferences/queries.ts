import { type NotificationType, notificationTypes } from '../texts/types.ts'
import type { QuietHours } from '../notifications/quiet-hours.ts'
import type { Categories, Db } from '../tables.ts'

export interface Preferences {
  categories: Record<NotificationType, { push: boolean, inApp: boolean }>
  quietHours: QuietHours
}

interface StoredPreferences {
  categories: Categories
  quiet_hours_enabled: boolean
  quiet_hours_start: string
  quiet_hours_end: string
}

/** An account's preferences. By default every category is on and quiet hours are off. */
export async function readPreferences (db: Db, accountId: string): Promise<Preferences> {
  const stored = await db.selectFrom('preferences').where('account_id', '=', accountId)
    .select(['categories', 'quiet_hours_enabled', 'quiet_hours_start', 'quiet_hours_end'])
    .executeTakeFirst()
  return toPreferences(
    stored ?? { categories: {}, quiet_hours_enabled: false, quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
  )
}

function toPreferences (
  { categories, quiet_hours_enabled, quiet_hours_start, quiet_hours_end }: StoredPreferences
): Preferences {
  return {
    categories: Object.fromEntries(
      notificationTypes.map((type) => [type, { push: true, inApp: true, ...categories[type] }])
    ) as Preferences['categories'],
    quietHours: { enabled: quiet_hours_enabled, start: quiet_hours_start, end: quiet_hours_end }
  }
}
