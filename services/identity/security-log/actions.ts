import { sql } from 'kysely'
import { Counter } from 'prom-client'
import type { OperatorActed } from '@tandem/contracts'
import type Type from 'typebox'
import { InvalidCode, InvalidCredentials, InvalidCurrentPassword, InvalidProviderAToken, InvalidProviderBToken } from '../errors.ts'
import type { Db, Provider, Role, Trx } from '../tables.ts'
import { currentOrigin } from './requests.ts'

type SignInMethod = 'REGISTRATION' | 'PASSWORD' | 'CODE' | Provider

interface Details {
  SIGN_IN: { method: SignInMethod }
  REFRESH_REUSED: Record<never, never>
  PASSWORD_CHANGED: { how: 'INITIAL' | 'CHANGED' | 'RESET' | 'CLEARED' }
  ROLE_CHANGED: { role: Role }
  PROVIDER_LINKED: { provider: Provider }
  SESSIONS_REVOKED: { by: 'OWNER' | 'OPERATOR', sessions: number }
  ACCOUNT_BANNED: Record<never, never>
  ACCOUNT_UNBANNED: Record<never, never>
}

interface SecurityEvent<Kind extends keyof Details> {
  kind: Kind
  accountId: string
  /** By default the session of the request. */
  sessionId?: string
  detail: Details[Kind]
}

// What a transaction logs is counted even if the transaction fails in the end.
const logged = new Counter({ name: 'identity_security_events_total', help: 'Security events by kind', labelNames: ['kind'] as const })

const KINDS = ['SIGN_IN', 'SIGN_IN_FAILED', 'REFRESH_REUSED', 'PASSWORD_CHANGED', 'ROLE_CHANGED', 'PROVIDER_LINKED', 'SESSIONS_REVOKED', 'ACCOUNT_BANNED',
  'ACCOUNT_UNBANNED', 'SELFIE_READ', 'OPERATOR_ACTED'] as const
// A rate needs a count before the first event.
for (const kind of KINDS) logged.inc({ kind }, 0)

const KEPT_FOR = '90 days'
const DELETED_AT_ONCE = 10_000

/** Logs an event with where the current request comes from, in the transaction that makes it true. */
export async function logSecurityEvent<Kind extends keyof Details> (trx: Trx, { kind, accountId, sessionId, detail }: SecurityEvent<Kind>) {
  const origin = currentOrigin()
  await trx.insertInto('security_events').values({
    kind,
    account_id: accountId,
    session_id: sessionId ?? origin.sessionId,
    network: origin.network,
    request_id: origin.requestId,
    detail: JSON.stringify(detail)
  }).execute()
  logged.inc({ kind })
}

/** How somebody tries to prove who they are, and whose account it is. The email is only compared and never stored. */
interface Attempt { method: 'PASSWORD' | 'CHANGE_PASSWORD' | 'CODE' | Provider, email?: string, accountId?: string }

const refusals = [InvalidCredentials, InvalidCode, InvalidCurrentPassword, InvalidProviderAToken, InvalidProviderBToken]

/** Waits for a sign-in, and logs it if it is refused. */
export async function logRefusal<Result> (db: Db, attempt: Attempt, signIn: Promise<Result>): Promise<Result> {
  try {
    return await signIn
  } catch (error) {
    if (refusals.some((Refusal) => error instanceof Refusal)) await logFailedSignIn(db, attempt)
    throw error
  }
}

/** One statement for known and unknown addresses alike, so that time does not tell one from another. */
async function logFailedSignIn (db: Db, { method, email, accountId }: Attempt) {
  const { sessionId, network, requestId } = currentOrigin()
  await sql`
    insert into security_events as known (kind, account_id, session_id, network, request_id, detail)
    values ('SIGN_IN_FAILED', coalesce(${accountId ?? null}::uuid, (select id from accounts where email = ${email ?? null}::text)), ${sessionId}, ${network}, ${requestId},
      jsonb_build_object('method', ${method}::text, 'times', 1))
    on conflict (account_id, network, (detail ->> 'method'), date_bin('1 minute', created_at, timestamptz '2000-01-01 00:00:00+00'))
      where kind = 'SIGN_IN_FAILED'
    do update set detail = jsonb_set(known.detail, '{times}', to_jsonb((known.detail ->> 'times')::integer + 1))`.execute(db)
  logged.inc({ kind: 'SIGN_IN_FAILED' })
}

/** What an operator did elsewhere. @param id of the event that tells it: a repeat of it finds the row */
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
  if (added) logged.inc({ kind })
}

/** Deletes what is older than 90 days, a batch at a time: after a flood of attempts no statement holds up others. */
export async function deleteOldSecurityEvents (db: Db) {
  await sql`
    delete from security_events where id in (
      select id from security_events where created_at < now() - ${KEPT_FOR}::interval
      order by created_at limit ${sql.lit(DELETED_AT_ONCE)} for update skip locked
    )`.execute(db)
}
