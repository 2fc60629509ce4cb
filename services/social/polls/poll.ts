import Type from 'typebox'
import { Nullable, Timestamp, named } from '@tandem/http-kit'
import type { PollRow } from './queries.ts'

export const Poll = named(
  'Poll',
  Type.Object({
    question: Type.String(),
    options: Type.Array(
      named('PollOption', Type.Object({ id: Type.String(), text: Type.String(), votesCount: Type.Integer() }))
    ),
    totalVotes: Type.Integer(),
    endsAt: Nullable(Timestamp),
    myVote: Nullable(Type.String({ description: 'The id of the option that the caller voted for' }))
  }, {
    examples: [{
      question: 'When should we run?',
      options: [
        { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e21', text: 'At dawn', votesCount: 2 },
        { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e22', text: 'At dusk', votesCount: 1 }
      ],
      totalVotes: 3,
      endsAt: '2026-12-01T00:00:00.000Z',
      myVote: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e21'
    }]
  })
)

/** A poll as the API returns it. JSON in Postgres has its end as text. */
export const toPollResponse = (poll: PollRow): Type.Static<typeof Poll> => ({
  ...poll,
  endsAt: poll.endsAt === null ? null : new Date(poll.endsAt)
})
