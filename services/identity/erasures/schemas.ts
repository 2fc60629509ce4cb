import Type from 'typebox'
import { Enum, Nullable } from '@tandem/http-kit'

const Counts = Type.Record(Type.String(), Type.Integer())
const Time = Type.String({ format: 'date-time', examples: ['2026-11-22T09:00:00.000Z'] })
const id = '3f1c2b7e-52c4-4e0a-9d1b-6f0a8c7d5e21'

/** A deletion as its owner sees it; once erased, it is the receipt. */
export const Deletion = Type.Object({
  id: Type.String({ examples: [id] }),
  status: Enum(['SCHEDULED', 'HELD', 'RUNNING', 'ERASED', 'CLOSED', 'CANCELED']),
  requestedAt: Time,
  eraseAt: Time,
  keeps: Type.Array(Type.Object({
    what: Type.String({ examples: ['Your username, without you'] }),
    why: Type.String({ examples: ['No stranger inherits your mentions.'] }),
    until: Type.String({ examples: ['90 days'] })
  })),
  providers: Type.Array(Enum(['PROVIDER_A', 'PROVIDER_B']), {
    description: 'Where the account is still connected to the app, until the person disconnects it there',
    examples: [['PROVIDER_A']]
  }),
  hasSubscription: Type.Boolean({ description: 'Whether a store goes on to bill until the person cancels there' }),
  manageUrl: Nullable(Type.String({ examples: ['https://apps.apple.com/account/subscriptions'] }), {
    description: 'Where the person cancels it'
  }),
  services: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({ rows: Counts, files: Type.Integer(), kept: Type.Integer(), confirmedAt: Time }),
      { description: 'What each service erased, once all of them have' }
    )
  ),
  inTransitUntil: Type.Optional(
    Nullable(Time, { description: 'Until when late events are still swept' })
  )
})
