// What systems outside may send to POST /producers/events, by type: the `data` of a CloudEvent.
import Type from 'typebox'
import { Id, Timestamp } from './schemas.ts'

export const MAX_ANNOUNCED_ACCOUNTS = 1_000

const words = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 100, examples: ['Your class'] }),
  body: Type.String({ minLength: 1, maxLength: 500, examples: ['Bring a towel.'] })
}, { schemaName: 'ProducerWords' })

/** Texts in place of those of this system. A person whose language is missing gets one of the others. */
const text = Type.Object({ en: Type.Optional(words), id: Type.Optional(words) }, {
  minProperties: 1,
  schemaName: 'ProducerText'
})

const account = {
  accountId: Type.Optional(Id),
  /** The random name of the account that the app gives to stores, in place of `accountId`. */
  accountToken: Type.Optional(Id)
}

const bookingId = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The name of the booking at its sender',
  examples: ['B-1042']
})

const booking = {
  ...account,
  bookingId,
  title: Type.String({ minLength: 1, maxLength: 200, examples: ['Yoga with Dewi'] }),
  startsAt: Timestamp,
  endsAt: Timestamp,
  locationName: Type.Optional(Type.String({ maxLength: 200, examples: ['Studio 2'] })),
  text: Type.Optional(text)
}

export const producerEvents = {
  /** The person is notified, and sees the booking among what is next. A later one with its id changes it. */
  'booking.confirmed': Type.Object(booking),
  /** The person is notified at `remindAt`, or at once. */
  'booking.reminder': Type.Object({ ...booking, remindAt: Type.Optional(Timestamp) }),
  /** It ends the booking for good, and withdraws its notifications, also if it arrives before them. */
  'booking.cancelled': Type.Object({ ...account, bookingId }),
  'admin.announcement': Type.Object({
    accountIds: Type.Array(Id, { minItems: 1, maxItems: MAX_ANNOUNCED_ACCOUNTS }),
    text
  })
}

export type ProducerEventType = keyof typeof producerEvents
export const producerEventTypes = Object.keys(producerEvents) as ProducerEventType[]
export type ProducerEventData<Name extends ProducerEventType> = Type.Static<typeof producerEvents[Name]>
