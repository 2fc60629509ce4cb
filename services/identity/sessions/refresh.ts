import { deleteInChunks } from '@tandem/database-kit'
import { sql } from 'kysely'
import { lockAccount } from '../accounts/queries.ts'
import type { RouteDeps } from '../deps.ts'
import { InvalidRefreshToken, RefreshFailed } from '../errors.ts'
import type { Db, Role } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { addRefreshToken, endSessions } from './actions.ts'
import { SESSION_LIFETIME } from './queries.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'

// A used token that is sent again this soon is a double tap; later it must have been copied.
const DOUBLE_TAP_WINDOW = '10 seconds'

/** How long an exchange can be repeated with its idempotency key. */
const REPEAT_WINDOW = '60 seconds'

interface Refresh {
  refreshToken: string
  idempotencyKey?: string | undefined
}
interface Refreshed {
  sessionId: string
  accountId: string
  role: Role
  refreshToken: string
}

/**
 * Exchanges a refresh token, which can be used once. Of several concurrent uses exactly one succeeds. The same token
 * with the same idempotency key returns the same tokens again for 60 seconds, until the new refresh token is used.
 * @throws InvalidRefreshToken, RefreshFailed
 */
export async function refreshSession (deps: RouteDeps, { refreshToken, idempotencyKey }: Refresh) {
  const { db, issueToken } = deps
  if (idempotencyKey === undefined) {
    const refreshed = await exchange(db, refreshToken, generateToken()) ?? await rejectRefresh(db, refreshToken)
    return { accessToken: await issueToken(refreshed), refreshToken: refreshed.refreshToken }
  }
  // Derived, not stored: the new token follows only from the old token, its idempotency key and SECRET.
  const next = deps.secrets.digest('refresh-token', refreshToken, idempotencyKey).toString('base64url')
  const refreshed = await exchange(db, refreshToken, next) ?? await findRepeatedExchange(db, refreshToken, next) ??
    await rejectRefresh(db, refreshToken)
  return { accessToken: await issueOnce(deps, refreshed), refreshToken: next }
}

/** Marks `refreshToken` as used and replaces it with `next`; undefined if it is invalid. */
async function exchange (db: Db, refreshToken: string, next: string): Promise<Refreshed | undefined> {
  return await db.transaction().execute(async (trx) => {
    const { rows: [session] } = await sql<Omit<Refreshed, 'refreshToken'>>`
      with used as (
        update refresh_tokens set used_at = now()
        where digest = ${digestOfToken(refreshToken)} and used_at is null and expires_at > now()
        returning session_id
      )
      update sessions set last_used_at = now()
      from used, accounts
      where sessions.id = used.session_id and sessions.ended_at is null
        and sessions.created_at > now() - ${SESSION_LIFETIME}::interval
        and accounts.id = sessions.account_id and accounts.banned_at is null
      returning sessions.id as "sessionId", accounts.id as "accountId", accounts.role`.execute(trx)
    if (!session) return
    await addRefreshToken(trx, session.sessionId, next)
    return { ...session, refreshToken: next }
  })
}

/** The session of an exchange of `refreshToken` for `next`, if the exchange can be repeated. */
async function findRepeatedExchange (db: Db, refreshToken: string, next: string): Promise<Refreshed | undefined> {
  const { rows: [session] } = await sql<Omit<Refreshed, 'refreshToken'>>`
    select sessions.id as "sessionId", accounts.id as "accountId", accounts.role
    from refresh_tokens used
    join refresh_tokens next
      on next.digest = ${digestOfToken(next)} and next.session_id = used.session_id and next.used_at is null
    join sessions on sessions.id = used.session_id and sessions.ended_at is null
    join accounts on accounts.id = sessions.account_id and accounts.banned_at is null
    where used.digest = ${digestOfToken(refreshToken)} and used.used_at > now() - ${REPEAT_WINDOW}::interval`.execute(
    db
  )
  return session && { ...session, refreshToken: next }
}

/**
 * The access token of an exchange that can be repeated. Of concurrently issued tokens, and those of a repeat after a
 * crash, the first one stored is returned to all. It is encrypted with the new refresh token, which is not in the
 * database.
 */
async function issueOnce ({ db, secrets, issueToken }: RouteDeps, refreshed: Refreshed) {
  const digest = digestOfToken(refreshed.refreshToken)
  const stored = await find()
  if (stored) return stored
  const accessToken = await issueToken(refreshed)
  const added = await db.insertInto('refresh_responses').values({
    digest,
    encrypted_access_token: secrets.encrypt(accessToken, refreshed.refreshToken)
  })
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst()
  return added ? accessToken : await find() ?? accessToken

  async function find () {
    const response = await db.selectFrom('refresh_responses').where('digest', '=', digest).select(
      'encrypted_access_token'
    ).executeTakeFirst()
    return response && secrets.decrypt(response.encrypted_access_token, refreshed.refreshToken)
  }
}

/** Deletes the responses that can no longer be repeated. */
export const deleteOldResponses = async (db: Db) =>
  await deleteInChunks(
    db,
    'refresh_responses',
    sql`created_at < now() - ${REPEAT_WINDOW}::interval order by created_at`
  )

/** A used token that is sent again later was copied, so the whole session ends. */
async function rejectRefresh (db: Db, refreshToken: string): Promise<never> {
  const token = await db.selectFrom('refresh_tokens')
    .innerJoin('sessions', 'sessions.id', 'session_id')
    .innerJoin('accounts', 'accounts.id', 'account_id')
    .where('digest', '=', digestOfToken(refreshToken))
    .select([
      'session_id as sessionId',
      'account_id as accountId',
      sql<boolean>`banned_at is not null`.as('isBanned'),
      sql<boolean>`coalesce(used_at < now() - ${DOUBLE_TAP_WINDOW}::interval, false)`.as('isReused')
    ])
    .executeTakeFirst()
  if (token?.isBanned) throw new RefreshFailed()
  if (token?.isReused) {
    const { accountId, sessionId } = token
    await db.transaction().execute(async (trx) => {
      await lockAccount(trx, { id: accountId })
      const ended = await endSessions(trx, { accountId, only: sessionId })
      if (ended > 0) await logSecurityEvent(trx, { kind: 'REFRESH_REUSED', accountId, sessionId, detail: {} })
    })
  }
  throw new InvalidRefreshToken()
}
