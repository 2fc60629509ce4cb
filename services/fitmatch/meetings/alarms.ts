import { isHidden } from '@tandem/account-kit'
import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { MeetingAsked, MeetingEnded, MeetingOverdue } from '@tandem/contracts'
import { findNextDue, workLocked } from '@tandem/database-kit'
import { runWhenDue, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_INTERVAL_MS = 5_000
const BATCH_SIZE = 100

/** Asks people whether they are well, and raises alarms, when it is due. */
export const startMeetingAlarms = ({ db, now }: Deps, log: Log) =>
  runWhenDue(async () => await runDueMeetings(db, now), {
    findNext: async () => await findNextDue(db, 'meetings', 'due_at'),
    maxIntervalMs: MAX_INTERVAL_MS,
    now,
    log
  }).stop

/** Handles every due meeting once. @throws the errors of those that failed, which stay due, after all others are done */
export async function runDueMeetings (db: Db, now: () => Date) {
  const at = now()
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('meetings').where('due_at', '<=', at)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select(['id', 'activity_id as activityId', 'account_id as accountId', 'alarm_at as alarmAt'])
        .orderBy('due_at').limit(BATCH_SIZE)
        .forUpdate().skipLocked()
        .execute(),
    async work (trx, meetings) {
      for (const meeting of meetings) await runDue(trx, meeting, at)
    }
  })
}

interface DueMeeting {
  id: string
  activityId: string
  accountId: string
  alarmAt: Date
}

async function runDue (trx: Trx, { id, activityId, accountId, alarmAt }: DueMeeting, now: Date) {
  const meeting = trx.updateTable('meetings').where('id', '=', id)
  const ids = { meetingId: id, activityId, accountId }
  // It was armed just before the person was hidden.
  if (await isHidden(trx, accountId)) {
    await trx.deleteFrom('meetings').where('id', '=', id).execute()
    await publish(trx, MeetingEnded, id, ids)
    return
  }
  if (now < alarmAt) {
    await meeting.set({ due_at: alarmAt }).execute()
    await publish(trx, MeetingAsked, id, ids)
    return
  }
  await meeting.set({ status: 'ALARMED', due_at: null }).execute()
  await publish(trx, MeetingOverdue, id, ids)
}
