import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { ActivityEdited } from '@tandem/contracts'
import { workLocked } from '@tandem/database-kit'
import type { Db, Trx } from '../tables.ts'
import { lockedColumns, type LockedActivity } from './locks.ts'
import { eventFieldsOf, listAccounts, publishChanged } from './places.ts'
import { localTimeColumns } from './queries.ts'
import { replaceTimers } from './timers.ts'
import { instantsOf, TZDATA_VERSION, type LocalTimes } from './times.ts'

const BATCH_SIZE = 100
const PLACES_KEPT_FOR = '30 days'

/** Erases the places and notes of activities that are long over. */
export async function eraseOldPlaces (db: Db) {
  await sql`
    update activities set location_name = null, venue = null, note = null, latitude = null, longitude = null
    where location_name is not null and ends_at < now() - ${sql.lit(PLACES_KEPT_FOR)}::interval`.execute(db)
}

/**
 * Derives the instants of activities to come again, if this process has newer time zone data than the one that wrote
 * them. People agreed on the time on the clock, which stays; if the instant moves, they are notified. While two versions
 * run side by side, the newer one decides.
 */
export async function updateInstants (db: Db, now: Date) {
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('activities')
        .where('status', '=', 'PLANNED').where('tzdata', '<', TZDATA_VERSION).where('starts_at', '>', now)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select([...lockedColumns, ...localTimeColumns])
        .orderBy('id').limit(BATCH_SIZE)
        .forUpdate()
        .execute(),
    async work (trx, activities) {
      for (const activity of activities) await updateInstant(trx, activity, now)
    }
  })
}

async function updateInstant (trx: Trx, activity: LockedActivity & LocalTimes, now: Date) {
  const { startsAt, endsAt } = instantsOf(activity)
  await trx.updateTable('activities').where('id', '=', activity.id)
    .set({ starts_at: startsAt, ends_at: endsAt, tzdata: TZDATA_VERSION })
    .execute()
  if (startsAt.getTime() === activity.startsAt.getTime() && endsAt.getTime() === activity.endsAt.getTime()) return
  const moved = { ...activity, startsAt, endsAt }
  await replaceTimers(trx, moved, now)
  await publish(trx, ActivityEdited, activity.id, eventFieldsOf(moved))
  const people = await listAccounts(trx, activity.id, ['INVITED', 'GOING'])
  await publishChanged(trx, moved, people, { changedBy: null, displayName: null })
}
