import Type from 'typebox'
import { DECISION_ACTIONS, RESTRICTION_SCOPES } from '@tandem/contracts'
import { Body, Enum, Id, named, Nullable, Text, Timestamp } from '@tandem/http-kit'

export const reasons = [
  'SPAM',
  'HARASSMENT',
  'HATE',
  'SEXUAL',
  'VIOLENCE',
  'SELF_HARM',
  'CHILD_SAFETY',
  'IMPERSONATION',
  'ILLEGAL',
  'UNDERAGE',
  'REPORTS',
  'OTHER'
] as const

const MAX_RESTRICTION_DAYS = 365

export const NewAction = Body({
  type: Enum(DECISION_ACTIONS),
  scope: Type.Optional(Enum(RESTRICTION_SCOPES)),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESTRICTION_DAYS })),
  photoId: Type.Optional(Id)
})
export type NewAction = Type.Static<typeof NewAction>

const decisionFields = {
  actions: Type.Array(NewAction, { minItems: 1, maxItems: 5 }),
  reason: Enum(reasons),
  statement: Text({ min: 0, max: 2000 }),
  note: Type.Optional(Text({ min: 0, max: 2000 }))
}
export const NewDecision = Body({
  case: Nullable(Body({ service: Enum(['social', 'fitmatch']), id: Id, version: Type.Integer() })),
  accountId: Id,
  ...decisionFields
})
/** About the case and the account of an earlier decision. */
export const DecisionWithoutCase = Body(decisionFields)
export type DecisionWithoutCase = Type.Static<typeof DecisionWithoutCase>
export type NewDecision = Type.Static<typeof NewDecision>

export const Appeal = named(
  'Appeal',
  Type.Object({
    id: Type.String(),
    decisionId: Type.String(),
    text: Type.String(),
    status: Enum(['OPEN', 'UPHELD', 'REVERSED']),
    answer: Nullable(Type.String()),
    createdAt: Timestamp,
    decidedAt: Nullable(Timestamp)
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-000000000021',
      decisionId: '019aa1f0-0000-7000-8000-000000000020',
      text: 'It was a quote.',
      status: 'OPEN',
      answer: null,
      createdAt: '2026-01-31T08:00:00.000Z',
      decidedAt: null
    }]
  })
)

const Restriction = Type.Object({
  scope: Enum(RESTRICTION_SCOPES, {
    description: 'POSTING: writing anywhere but in chats; ALL: everything but the account'
  }),
  until: Nullable(Timestamp, { description: 'null until operators lift it' })
})
const Decision = named(
  'Decision',
  Type.Object({
    id: Type.String(),
    actions: Type.Array(Type.Object({
      type: Enum(DECISION_ACTIONS),
      scope: Nullable(Enum(RESTRICTION_SCOPES)),
      until: Nullable(Timestamp)
    })),
    reason: Enum(reasons),
    statement: Type.String(),
    subject: Type.Object({ type: Nullable(Type.String()), excerpt: Nullable(Type.String()) }),
    automated: Type.Boolean({ description: 'Whether no person decided it' }),
    madeAt: Timestamp,
    appealableUntil: Timestamp,
    appeal: Nullable(Appeal)
  })
)

export const Standing = named(
  'Standing',
  Type.Object({
    status: Enum(['GOOD', 'WARNED', 'RESTRICTED', 'BANNED']),
    restrictions: Type.Array(Restriction),
    decisions: Type.Array(Decision)
  }, {
    examples: [{
      status: 'RESTRICTED',
      restrictions: [{ scope: 'POSTING', until: '2026-02-07T08:00:00.000Z' }],
      decisions: [{
        id: '019aa1f0-0000-7000-8000-000000000020',
        actions: [{ type: 'RESTRICT', scope: 'POSTING', until: '2026-02-07T08:00:00.000Z' }],
        reason: 'HARASSMENT',
        statement: 'You insulted several people.',
        subject: { type: 'COMMENT', excerpt: 'You are …' },
        automated: false,
        madeAt: '2026-01-31T08:00:00.000Z',
        appealableUntil: '2026-07-30T08:00:00.000Z',
        appeal: null
      }]
    }]
  })
)
