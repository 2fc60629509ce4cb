import type { Categories, Db } from '../tables.ts'
import { noticeTypes, type NoticeType } from '../inbox/kinds.ts'
import type { QuietHours } from './quiet-hours.ts'

export interface Preferences { categories: Record<NoticeType, { push: boolean, inApp: boolean }>, quietHours: QuietHours }

interface Kept { categories: Categories, quiet: boolean, quiet_start: string, quiet_end: string }

/** What somebody has chosen: everything is on and no hours are quiet unless he did. */
export async function readPreferences (db: Db, accountId: string): Promise<Preferences> {
  const kept = await db.selectFrom('preferences').where('account_id', '=', accountId)
    .select(['categories', 'quiet', 'quiet_start', 'quiet_end'])
    .executeTakeFirst()
  return show(kept ?? { categories: {}, quiet: false, quiet_start: '22:00', quiet_end: '07:00' })
}

function show ({ categories, quiet, quiet_start, quiet_end }: Kept): Preferences {
  return {
    categories: Object.fromEntries(noticeTypes.map((type) => [type, { push: true, inApp: true, ...categories[type] }])) as Preferences['categories'],
    quietHours: { enabled: quiet, start: quiet_start, end: quiet_end }
  }
}
