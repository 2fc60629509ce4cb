import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { ActivityAttended } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { ActivityNotFound, ActivityOver, NotYet } from '../errors.ts'
import { readAdult } from '../people/queries.ts'
import type { Trx } from '../tables.ts'
import { lockAsGuest, type LockedActivity } from './locks.ts'
import { eventFieldsOf } from './places.ts'
import { HOUR_MS } from './times.ts'

const BEFORE_START_MS = HOUR_MS / 2
const AFTER_END_MS = 12 * HOUR_MS

/** The name under which the workout of an activity is logged, by the phone or by the dashboard. */
export const workoutClientIdOf = (activityId: string) => `activity:${activityId}`

/** Notes that the caller is there. A repeat gets the first time. */
export async function checkIn ({ db, minAge, now }: Deps, accountId: string, activityId: string) {
  await readAdult({ db, minAge }, accountId)
  return await db.transaction().execute(async (trx) => {
    const activity = await lockAsGuest(trx, accountId, activityId, { now: now() })
    const own = await trx.selectFrom('activity_participants')
      .where('activity_id', '=', activityId).where('account_id', '=', accountId).where('state', '=', 'GOING')
      .select('checked_in_at as checkedInAt')
      .executeTakeFirst()
    if (!own) throw new ActivityNotFound()
    if (own.checkedInAt) return own.checkedInAt
    const at = now()
    if (activity.status === 'CANCELED' || at.getTime() > activity.endsAt.getTime() + AFTER_END_MS) {
      throw new ActivityOver()
    }
    if (at.getTime() < activity.startsAt.getTime() - BEFORE_START_MS) throw new NotYet()
    await trx.updateTable('activity_participants').set({ checked_in_at: at })
      .where('activity_id', '=', activityId).where('account_id', '=', accountId)
      .execute()
    // Otherwise the end of the activity publishes it.
    if (activity.status === 'FINISHED') await publishAttended(trx, activity, accountId)
    return at
  })
}

/** Publishes once that a person was there. Call it under the activity's lock. */
export async function publishAttended (trx: Trx, activity: LockedActivity, accountId: string) {
  await trx.updateTable('activity_participants').set({ attended_at: sql`now()` })
    .where('activity_id', '=', activity.id).where('account_id', '=', accountId)
    .execute()
  await publish(trx, ActivityAttended, activity.id, {
    ...eventFieldsOf(activity),
    accountId,
    title: activity.title,
    endsAt: activity.endsAt.toISOString()
  })
}
