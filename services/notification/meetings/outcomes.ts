import { publish } from '@tandem/bus-kit'
import { MeetingAlarmMailed, MeetingMailFailed } from '@tandem/contracts'
import type { MailOutcome } from '@tandem/mail-kit'
import type { Tables, Trx } from '../tables.ts'

interface FailedMail {
  meetingId: string
  accountId: string
  isAlarm: boolean
}

/** Says that the contact is not notified of a meeting or of its alarm, and that no further attempt follows. */
export async function publishFailed (trx: Trx, { meetingId, accountId, isAlarm }: FailedMail) {
  const failedAt = new Date().toISOString()
  await publish(trx, MeetingMailFailed, meetingId, { meetingId, accountId, isAlarm, failedAt })
}

/** What fitmatch learns of the mails to a contact. */
export const meetingMailOutcomes: Record<string, MailOutcome<Tables>> = {
  'meeting-shared': {
    onSent: async () => {},
    onFailed: async (trx, { subjectId, accountId }) => {
      // A version of the activity can follow.
      const [meetingId = ''] = subjectId.split(':')
      if (accountId) await publishFailed(trx, { meetingId, accountId, isAlarm: false })
    }
  },
  'meeting-overdue': {
    onSent: async (trx, { subjectId: meetingId, accountId }) => {
      const mailedAt = new Date().toISOString()
      if (accountId) await publish(trx, MeetingAlarmMailed, meetingId, { meetingId, accountId, mailedAt })
    },
    onFailed: async (trx, { subjectId: meetingId, accountId }) => {
      // The all-clear has superseded the alarm.
      const cleared = await trx.selectFrom('meeting_mails').where('meeting_id', '=', meetingId)
        .where('is_cleared', '=', true).select('meeting_id').executeTakeFirst()
      if (accountId && !cleared) await publishFailed(trx, { meetingId, accountId, isAlarm: true })
    }
  }
}
