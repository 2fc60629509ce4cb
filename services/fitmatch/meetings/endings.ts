import { isHidden } from '@tandem/account-kit'
import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import {
  MeetingDisarmed,
  MeetingEnded,
  MeetingFinished,
  MeetingSilenced,
  TrustedContactStatus
} from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { MeetingNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { listArmed } from './queries.ts'

/** Ends an armed meeting without a word to the contact. After the alarm only `reportSafe` ends it. */
export async function disarmMeeting (db: Db, accountId: string, activityId: string) {
  await db.transaction().execute(async (trx) => {
    const disarmed = await trx.deleteFrom('meetings').where('activity_id', '=', activityId)
      .where('account_id', '=', accountId).where('status', '=', 'ARMED').returning('id').executeTakeFirst()
    if (!disarmed) throw new MeetingNotFound()
    await publish(trx, MeetingFinished, disarmed.id, { meetingId: disarmed.id, activityId, accountId })
  })
}

/**
 * Disarms the meetings of an account that has no contact any more who agreed, and notifies the account. The event that
 * leads here can be late, so the contact is looked up now, after the meetings: those that were armed since have another
 * contact. A meeting that is being armed is not among them; notification publishes the event again when it hears of it.
 */
export async function disarmWithoutContact ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, accountId: string) {
  const armed = await listArmed(db, accountId)
  if (armed.length === 0 || await callRpc(TrustedContactStatus, { accountId }) === 'CONFIRMED') return
  await db.transaction().execute(async (trx) => {
    const disarmed = await trx.deleteFrom('meetings').where('id', 'in', armed).where('status', '=', 'ARMED')
      .returning(['id', 'activity_id as activityId']).execute()
    for (const { id, activityId } of disarmed) {
      await publish(trx, MeetingDisarmed, id, { meetingId: id, activityId, accountId, reason: 'CONTACT_ENDED' })
    }
  })
}

/**
 * Ends the armed meetings of a person who can no longer report back, because their account is closed, paused or
 * restricted. Their contact, who would otherwise get an alarm or nothing at all, learns of it. A meeting that is armed
 * at the same moment ends when it is due. After the alarm, a meeting stays, for the all-clear once the person is back; the
 * contact learns that it cannot come for now. A week later nobody waits for it any more.
 */
export async function endMeetingsOfHidden (db: Db, accountId: string) {
  await db.transaction().execute(async (trx) => {
    // The event can be late, and the person back.
    if (!await isHidden(trx, accountId)) return
    const ids = ['id as meetingId', 'activity_id as activityId', 'account_id as accountId'] as const
    const ended = await trx.deleteFrom('meetings').where('account_id', '=', accountId).where('status', '=', 'ARMED')
      .returning(ids).execute()
    for (const meeting of ended) await publish(trx, MeetingEnded, meeting.meetingId, meeting)
    // Afterwards: the statement above waits for an alarm that is being raised.
    const alarmed = await trx.selectFrom('meetings').where('account_id', '=', accountId).where('status', '=', 'ALARMED')
      .where('alarm_at', '>', sql<Date>`now() - interval '7 days'`).select(ids).execute()
    for (const meeting of alarmed) await publish(trx, MeetingSilenced, meeting.meetingId, meeting)
  })
}

interface LostPlaces {
  activityId: string
  accountIds: string[]
  /** The one of them who ended it and need not be notified. */
  endedBy?: string | undefined
  /** How long before the start; by default two hours. */
  before?: '2 hours' | '0 hours'
}

/**
 * Disarms meetings of people who lose their place, long before the start, and notifies them. Later a meeting stays
 * armed, even if the host cancels or removes somebody: the two may have met already, and only its owner decides. Call it
 * under the activity's lock.
 */
export async function disarmBefore (
  trx: Trx,
  { activityId, accountIds, endedBy, before = '2 hours' }: LostPlaces
) {
  const disarmed = await trx.deleteFrom('meetings').where('activity_id', '=', activityId).where('status', '=', 'ARMED')
    .where('account_id', '=', sql<string>`any(${accountIds}::uuid[])`)
    .where((meeting) =>
      meeting.exists(
        meeting.selectFrom('activities').whereRef('activities.id', '=', 'meetings.activity_id')
          .where('starts_at', '>', sql<Date>`now() + ${before}::interval`)
      )
    )
    .returning(['id', 'account_id as accountId'])
    .execute()
  for (const { id, accountId } of disarmed) {
    const event = { meetingId: id, activityId, accountId }
    if (accountId === endedBy) await publish(trx, MeetingFinished, id, event)
    else await publish(trx, MeetingDisarmed, id, { ...event, reason: 'PLACE_ENDED' })
  }
}
