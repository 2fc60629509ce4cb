import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Erased, erasureCheck, Id, Nullable, personalData, Timestamp } from './schemas.ts'

/** Whether the trusted contact of an account has agreed. Only a CONFIRMED one is mailed about meetings. */
export const TrustedContactStatus = defineRpc('notification.trusted-contact.v1', {
  request: Type.Object({ accountId: Id }),
  response: Type.Enum(['NONE', 'PENDING', 'CONFIRMED', 'DECLINED'])
})

/**
 * An account may have no contact any more who has agreed: they declined, were removed or replaced, or a meeting was
 * shared without one. The event can be late, so `TrustedContactStatus` says what is so now.
 */
export const TrustedContactEnded = defineEvent('notification.trusted-contact.ended.v1', Type.Object({ accountId: Id }))

/** A mail server has taken the mail that says that a person has not reported back. */
export const MeetingAlarmMailed = defineEvent(
  'notification.meeting-alarm.mailed.v1',
  Type.Object({ meetingId: Id, accountId: Id, mailedAt: Timestamp })
)
/** The contact could not be mailed of a meeting, or of its alarm: there is none, or the mail failed for good. */
export const MeetingMailFailed = defineEvent(
  'notification.meeting-mail.failed.v1',
  Type.Object({ meetingId: Id, accountId: Id, isAlarm: Type.Boolean(), failedAt: Timestamp })
)

/** A webhook endpoint has accepted nothing for three days, so it gets nothing more until an operator enables it. */
export const WebhookDisabled = defineEvent(
  'notification.webhook.disabled.v1',
  Type.Object({
    endpointId: Id,
    /** Of its URL, whose path can be a secret. */
    host: Type.String(),
    reason: Type.String()
  })
)

export const NotificationAccountErased = defineEvent('notification.account.erased.v1', Erased)
export const NotificationPersonalData = defineRpc('notification.personal-data.v1', personalData)
export const NotificationErasureCheck = defineRpc('notification.erasure-check.v1', erasureCheck)

/** A booking as it is now. A cancelled one stays so. `version` grows with each change. */
export const BookingChanged = defineEvent(
  'notification.booking.changed.v1',
  Type.Object({
    id: Id,
    accountId: Id,
    /** Its name at the system that sent it. */
    bookingId: Type.String(),
    title: Type.String(),
    startsAt: Timestamp,
    endsAt: Timestamp,
    locationName: Nullable(Type.String()),
    isCancelled: Type.Boolean(),
    version: Type.Integer()
  })
)
