import { publish } from '@tandem/bus-kit'
import { MeetingContactNotTold, MeetingContactTold } from '@tandem/contracts'
import type { Db } from '../tables.ts'

/** A mail server took the alarm. Its owner is notified, unless they have reported back since. */
export async function markContactTold (db: Db, meetingId: string, at: string) {
  await db.transaction().execute(async (trx) => {
    const meeting = await trx.updateTable('meetings').set({ contact_told_at: new Date(at) })
      .where('id', '=', meetingId).where('status', '<>', 'ARMED').where('contact_told_at', 'is', null)
      .returning(['status', 'activity_id as activityId', 'account_id as accountId'])
      .executeTakeFirst()
    if (meeting?.status !== 'ALARMED') return
    const { activityId, accountId } = meeting
    await publish(trx, MeetingContactTold, meetingId, { meetingId, activityId, accountId })
  })
}

interface FailedMail {
  meetingId: string
  isAlarm: boolean
  failedAt: string
}

/**
 * The contact cannot be notified of a meeting or of its alarm. The meeting stays as it is: a later mail may arrive. Its
 * owner is notified, unless they have reported back since.
 */
export async function markContactNotTold (db: Db, { meetingId, isAlarm, failedAt }: FailedMail) {
  await db.transaction().execute(async (trx) => {
    const meeting = await trx.selectFrom('meetings').where('id', '=', meetingId)
      .where('status', '=', isAlarm ? 'ALARMED' : 'ARMED').where('contact_failed_at', 'is', null)
      .select(['activity_id as activityId', 'account_id as accountId']).forUpdate().executeTakeFirst()
    if (!meeting) return
    if (isAlarm) {
      await trx.updateTable('meetings').set({ contact_failed_at: new Date(failedAt) }).where('id', '=', meetingId)
        .execute()
    }
    const { activityId, accountId } = meeting
    await publish(trx, MeetingContactNotTold, meetingId, { meetingId, activityId, accountId, isAlarm })
  })
}
