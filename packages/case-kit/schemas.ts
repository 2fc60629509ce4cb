import Type from 'typebox'
import { Nullable, Timestamp } from '@tandem/http-kit'

// What operators see of cases.

export const CaseSummary = Type.Object({
  id: Type.String(),
  targetType: Type.String(),
  targetId: Type.String(),
  accountId: Type.String(),
  /** The person, as people saw them when the latest evidence was frozen. */
  personName: Nullable(Type.String()),
  /** The beginning of the latest evidence. */
  excerpt: Nullable(Type.String()),
  /** The different reasons of its reports. */
  reasons: Type.Array(Type.String()),
  priority: Type.Integer(),
  dueAt: Timestamp,
  version: Type.Integer(),
  reportsCount: Type.Integer(),
  isRestricted: Type.Boolean(),
  isHeld: Type.Boolean(),
  claimedBy: Nullable(Type.String()),
  claimedUntil: Nullable(Timestamp),
  outcome: Nullable(Type.String()),
  decisionId: Nullable(Type.String()),
  createdAt: Timestamp,
  resolvedAt: Nullable(Timestamp)
})
export type CaseSummary = Type.Static<typeof CaseSummary>

const AnyObject = Type.Object({}, { additionalProperties: true })
export const Report = Type.Object({
  reason: Type.String(),
  details: Nullable(Type.String()),
  /** What the reporter added: keys of uploads, or URLs of other hosts. */
  evidence: Type.Array(Type.String()),
  createdAt: Timestamp
})
export type Report = Type.Static<typeof Report>

export const Case = Type.Object({
  ...CaseSummary.properties,
  hidesPictures: Type.Boolean(),
  evidence: Type.Array(Type.Object({ content: AnyObject, createdAt: Timestamp })),
  files: Type.Array(
    Type.Object({ number: Type.Integer(), source: Type.String(), sha256: Nullable(Type.String()) })
  ),
  reports: Type.Array(Report)
})
