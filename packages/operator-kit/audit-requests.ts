import type { FastifyRequest } from 'fastify'
import type { AuditEntry } from './audit.ts'

const MAX_REASON_CHARACTERS = 500
const MAX_SUBJECT_CHARACTERS = 200

/** What a request does, whose data it concerns, and why. */
export function describeRequest (request: FastifyRequest, operator: AuditEntry['operator']): AuditEntry {
  const { id, method, routeOptions, params, query, body } = request
  const given = { ...query as object, ...body as object, ...params as object } as Record<string, unknown>
  const text = (value: unknown, max: number) => typeof value === 'string' && value !== '' ? value.slice(0, max) : null
  // Of an address only the host: the rest may be a secret.
  const host = typeof given['url'] === 'string' ? URL.parse(given['url'])?.host : undefined
  const subject = [given['id'], given['key'], given['accountId'], given['q'], given['name'], host]
    .find((each) => typeof each === 'string')
  return {
    operator,
    action: `${method} ${routeOptions.url ?? ''}`,
    subject: text(subject, MAX_SUBJECT_CHARACTERS),
    accountId: text(given['accountId'], MAX_SUBJECT_CHARACTERS),
    reason: text(given['reason'], MAX_REASON_CHARACTERS),
    requestId: id
  }
}
