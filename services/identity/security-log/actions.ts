import { deleteInChunks } from '@tandem/database-kit'
import { sql } from 'kysely'
import { Counter } from 'prom-client'
import type { OperatorActed } from '@tandem/contracts'
import type Type from 'typebox'
import {
  InvalidCode,
  InvalidCredentials,
  InvalidCurrentPassword,
  InvalidProviderAToken,
  InvalidProviderBToken
} from '../errors.ts'
import type { Db, Provider, Role, SignInMethod, Trx } from '../tables.ts'
import { currentOrigin } from './requests.ts'

interface Details {
  SIGN_IN: { method: SignInMethod }
  REFRESH_REUSED: Record<never, never>
  PASSWORD_CHANGED: { how: 'INITIAL' | 'CHANGED' | 'RESET' | 'CLEARED' }
  ROLE_CHANGED: { role: Role }
  EXPORT_REQUESTED: Record<never, never>
  EMAIL_CHANGED: { how: 'CHANGED' | 'REVERTED' }
  PROVIDER_LINKED: { provider: Provider }
  PROVIDER_REMOVED: { provider: Provider, by: 'OWNER' | 'OPERATOR' }
  SESSIONS_REVOKED: { by: 'OWNER' | 'OPERATOR', sessions: number }
  ACCOUNT_BANNED: Record<never, never>
  ACCOUNT_UNBANNED: Record<never, never>
  ACCOUNT_PAUSED: Record<never, never>
  DELETION_REQUESTED: { by: 'OWNER' | 'LINK', immediately: boolean }
  DELETION_CANCELED: Record<never, never>
  SUBSCRIPTION_GRANTED: { planId: string, days: number }
  SUBSCRIPTION_TAKEN: Record<never, never>
  PURCHASES_RECHECKED: { purchases: number }
  SANDBOX_MARKED: { usesSandbox: boolean }
}

interface SecurityEvent<Kind extends keyof Details> {
  kind: Kind
  accountId: string
  /** Defaults to the session of the request. */
  sessionId?: string
  detail: Details[Kind]
}

// Counted even if the transaction fails afterwards.
const eventsTotal = new Counter({
  name: 'identity_security_events_total',
  help: 'Security events by kind',
  labelNames: ['kind'] as const
})

const KINDS = [
  'SIGN_IN',
  'SIGN_IN_FAILED',
  'REFRESH_REUSED',
  'PASSWORD_CHANGED',
  'ROLE_CHANGED',
  'EXPORT_REQUESTED',
  'EMAIL_CHANGED',
  'PROVIDER_LINKED',
  'PROVIDER_REMOVED',
  'SESSIONS_REVOKED',
  'ACCOUNT_BANNED',
  'SUBSCRIPTION_GRANTED',
  'SUBSCRIPTION_TAKEN',
  'PURCHASES_RECHECKED',
  'SANDBOX_MARKED',
  'ACCOUNT_UNBANNED',
  'ACCOUNT_PAUSED',
  'DELETION_REQUESTED',
  'DELETION_CANCELED',
  'SELFIE_READ',
  'OPERATOR_ACTED'
] as const
// A rate in Prometheus needs a first sample of 0.
for (const kind of KINDS) eventsTotal.inc({ kind }, 0)

const RETENTION = '90 days'

/** Logs an event with the origin of the current request, in the transaction of the change. */
export async function logSecurityEvent<Kind extends keyof Details> (
  trx: Trx,
  { kind, accountId, sessionId, detail }: SecurityEvent<Kind>
) {
  const { network, requestId, ...origin } = currentOrigin()
  eventsTotal.inc({ kind })
  await trx.insertInto('security_events').values({
    kind,
    account_id: accountId,
    session_id: sessionId ?? origin.sessionId,
    network,
    request_id: requestId,
    detail: JSON.stringify(detail)
  }).execute()
}

/** A sign-in attempt. The email is only used to look up the account and never stored. */
interface Attempt {
  method: 'PASSWORD' | 'CHANGE_PASSWORD' | 'CODE' | 'PROOF' | Provider
  email?: string
  accountId?: string
}

const loggedErrors = [
  InvalidCredentials,
  InvalidCode,
  InvalidCurrentPassword,
  InvalidProviderAToken,
  InvalidProviderBToken
]

/** Awaits a sign-in, and logs it if it is rejected. */
export async function logSignInFailure<Result> (db: Db, attempt: Attempt, signIn: Promise<Result>): Promise<Result> {
  try {
    return await signIn
  } catch (error) {
    if (loggedErrors.some((LoggedError) => error instanceof LoggedError)) await insertSignInFailure(db, attempt)
    throw error
  }
}

/** One statement for known and unknown addresses, so that the response time does not reveal which it is. */
async function insertSignInFailure (db: Db, { method, email, accountId }: Attempt) {
  const { sessionId, network, requestId } = currentOrigin()
  await sql`
    insert into security_events as known (kind, account_id, session_id, network, request_id, detail)
    values ('SIGN_IN_FAILED', coalesce(${accountId ?? null}::uuid, (select id from accounts
      where email = ${email ?? null}::text)), ${sessionId}, ${network}, ${requestId},
      jsonb_build_object('method', ${method}::text, 'times', 1))
    on conflict (account_id, network, (detail ->> 'method'),
        date_bin('1 minute', created_at, timestamptz '2000-01-01 00:00:00+00'))
      where kind = 'SIGN_IN_FAILED'
    do update set detail = jsonb_set(known.detail, '{times}', to_jsonb((known.detail ->> 'times')::integer + 1))`
    .execute(db)
  eventsTotal.inc({ kind: 'SIGN_IN_FAILED' })
}

/** Logs an operator action in another service. @param id the id of the event: a redelivery finds the row */
export async function logOperatorAction (db: Db, id: string, at: Date, action: Type.Static<typeof OperatorActed.data>) {
  const kind = action.action === 'SELFIE_READ' ? 'SELFIE_READ' : 'OPERATOR_ACTED'
  const added = await db.insertInto('security_events').values({
    id,
    kind,
    account_id: action.accountId,
    session_id: action.sessionId,
    network: action.network,
    request_id: action.requestId,
    detail: JSON.stringify({ action: action.action, subjectId: action.subjectId }),
    created_at: at
  })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added) eventsTotal.inc({ kind })
}

/** Deletes events older than 90 days. */
export const deleteOldSecurityEvents = async (db: Db) =>
  await deleteInChunks(db, 'security_events', sql`created_at < now() - ${RETENTION}::interval order by created_at`)
