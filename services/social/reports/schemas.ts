import Type from 'typebox'
import { Body, ClientUrl, Enum, Id, named, Nullable, Text, Timestamp } from '@tandem/http-kit'
import { reportReasons, targetTypes } from '../tables.ts'

const TargetType = Enum(targetTypes)
const Reason = Enum(reportReasons)

export const NewReport = Body({
  targetType: TargetType,
  targetId: Id,
  reason: Reason,
  details: Type.Optional(Text({ min: 0, max: 2000 })),
  evidence: Type.Optional(Type.Array(ClientUrl, { maxItems: 10, description: 'URLs of screenshots' })),
  alsoBlock: Type.Optional(Type.Boolean({ description: 'Whether to block its author too' }))
}, {
  examples: [{
    targetType: 'POST',
    targetId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e12',
    reason: 'SPAM',
    details: 'The same advertisement under every post',
    alsoBlock: true
  }]
})

export const Report = named(
  'ContentReport',
  Type.Object({
    id: Type.String(),
    targetType: TargetType,
    targetId: Type.String(),
    reason: Reason,
    details: Nullable(Type.String()),
    evidence: Type.Array(Type.String(), { description: 'URLs of screenshots' }),
    status: Enum(['OPEN', 'RESOLVED']),
    outcome: Nullable(Enum(['ACTION_TAKEN', 'NO_VIOLATION']), { description: 'Null while the report is open' }),
    createdAt: Timestamp,
    resolvedAt: Nullable(Timestamp)
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e51',
      targetType: 'POST',
      targetId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e12',
      reason: 'SPAM',
      details: 'The same advertisement under every post',
      evidence: [],
      status: 'OPEN',
      outcome: null,
      createdAt: '2026-11-20T07:00:00.000Z',
      resolvedAt: null
    }]
  })
)
