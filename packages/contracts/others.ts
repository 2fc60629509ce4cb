// Events that no service of this repository publishes yet. The notification service already consumes them.
import Type from 'typebox'
import { defineEvent } from './definitions.ts'
import { Id, Timestamp } from './schemas.ts'

const reservation = Type.Object({ accountId: Id, reservationId: Id, title: Type.String(), startsAt: Timestamp })

export const ReservationConfirmed = defineEvent('booking.reservation.confirmed.v1', reservation)
export const ReservationReminded = defineEvent('booking.reservation.reminded.v1', reservation)

/** A user asks another to do a sport together. */
export const BuddyRequestCreated = defineEvent(
  'buddy.request.created.v1',
  Type.Object({ requestId: Id, fromAccountId: Id, toAccountId: Id, sport: Type.String() })
)
export const BuddyRequestAccepted = defineEvent(
  'buddy.request.accepted.v1',
  Type.Object({ requestId: Id, fromAccountId: Id, toAccountId: Id, sport: Type.String() })
)

export const FastingTimerFinished = defineEvent(
  'fasting.timer.finished.v1',
  Type.Object({ accountId: Id, timerId: Id, hours: Type.Number() })
)

const bilingual = Type.Object({ en: Type.String(), id: Type.String() })

/** A message from the operators to all users. */
export const BroadcastSent = defineEvent(
  'admin.broadcast.sent.v1',
  Type.Object({ broadcastId: Id, title: bilingual, body: bilingual })
)
