import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { InvalidRefreshToken, RefreshFailed } from '../errors.ts'
import type { Db, Role } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from './actions.ts'
import { SESSION_LIFETIME } from './queries.ts'
import { addRefreshToken, digestOf, makeRefreshToken } from './refresh-tokens.ts'

// A used token that comes again this soon is a double tap; later it is somebody else's.
const DOUBLE_TAP = '10 seconds'

/** For how long an exchange can be repeated under its idempotency key. */
const REPEATABLE_FOR = '60 seconds'

interface Refresh { refreshToken: string, idempotencyKey?: string | undefined }
interface Refreshed { sessionId: string, accountId: string, role: Role, refreshToken: string }

/**
 * Exchanges a refresh token, which is good for one use. Of several uses at once exactly one succeeds. The same token with the same
 * idempotency key gets the same tokens again within 60 seconds, until the new refresh token is used.
 * @throws InvalidRefreshToken, RefreshFailed
 */
export async function refreshSession (deps: Deps, { refreshToken, idempotencyKey }: Refresh) {
  const { db, issueToken } = deps
  if (idempotencyKey === undefined) {
    const refreshed = await exchange(db, refreshToken, makeRefreshToken()) ?? await refuseRefresh(db, refreshToken)
    return { accessToken: await issueToken(refreshed), refreshToken: refreshed.refreshToken }
  }
  // Derived and not stored: only the old token with its key leads to the new one, and only with SECRET.
  const next = deps.secrets.digest('refresh-token', refreshToken, idempotencyKey).toString('base64url')
  const refreshed = await exchange(db, refreshToken, next) ?? await findRepeat(db, refreshToken, next) ?? await refuseRefresh(db, refreshToken)
  return { accessToken: await issueOnce(deps, refreshed), refreshToken: next }
}

/** Uses `refreshToken` and puts `next` in its place; undefined when it is not good. */
async function exchange (db: Db, refreshToken: string, next: string): Promise<Refreshed | undefined> {
  return await db.transaction().execute(async (trx) => {
    const { rows: [session] } = await sql<Omit<Refreshed, 'refreshToken'>>`
      with used as (
        update refresh_tokens set used_at = now()
        where digest = ${digestOf(refreshToken)} and used_at is null and expires_at > now()
        returning session_id
      )
      update sessions set last_used_at = now()
      from used, accounts
      where sessions.id = used.session_id and sessions.ended_at is null and sessions.created_at > now() - ${SESSION_LIFETIME}::interval
        and accounts.id = sessions.account_id and accounts.barred_at is null
      returning sessions.id as "sessionId", accounts.id as "accountId", accounts.role`.execute(trx)
    if (!session) return
    await addRefreshToken(trx, session.sessionId, next)
    return { ...session, refreshToken: next }
  })
}

/** The session of an exchange of `refreshToken` for `next` that may be repeated. */
async function findRepeat (db: Db, refreshToken: string, next: string): Promise<Refreshed | undefined> {
  const { rows: [session] } = await sql<Omit<Refreshed, 'refreshToken'>>`
    select sessions.id as "sessionId", accounts.id as "accountId", accounts.role
    from refresh_tokens spent
    join refresh_tokens next on next.digest = ${digestOf(next)} and next.session_id = spent.session_id and next.used_at is null
    join sessions on sessions.id = spent.session_id and sessions.ended_at is null
    join accounts on accounts.id = sessions.account_id and accounts.barred_at is null
    where spent.digest = ${digestOf(refreshToken)} and spent.used_at > now() - ${REPEATABLE_FOR}::interval`.execute(db)
  return session && { ...session, refreshToken: next }
}

/**
 * The access token of an exchange that may be repeated: of those issued at once, and by a repeat after a crash, the first one kept counts.
 * It is sealed under the new refresh token, which is not in the database.
 */
async function issueOnce ({ db, secrets, issueToken }: Deps, refreshed: Refreshed) {
  const digest = digestOf(refreshed.refreshToken)
  const kept = await find()
  if (kept) return kept
  const accessToken = await issueToken(refreshed)
  const added = await db.insertInto('refresh_answers').values({ digest, sealed: secrets.seal(accessToken, refreshed.refreshToken) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst()
  return added ? accessToken : await find() ?? accessToken

  async function find () {
    const answer = await db.selectFrom('refresh_answers').where('digest', '=', digest).select('sealed').executeTakeFirst()
    return answer && secrets.unseal(answer.sealed, refreshed.refreshToken)
  }
}

/** Deletes the answers that are too old to be repeated. */
export async function deleteOldAnswers (db: Db) {
  await sql`delete from refresh_answers where created_at < now() - ${REPEATABLE_FOR}::interval`.execute(db)
}

/** A token that was used a while ago and comes again was copied, so the whole session ends. */
async function refuseRefresh (db: Db, refreshToken: string): Promise<never> {
  const token = await db.selectFrom('refresh_tokens')
    .innerJoin('sessions', 'sessions.id', 'session_id')
    .innerJoin('accounts', 'accounts.id', 'account_id')
    .where('digest', '=', digestOf(refreshToken))
    .select([
      'session_id as sessionId', 'account_id as accountId', sql<boolean>`barred_at is not null`.as('isBarred'),
      sql<boolean>`coalesce(used_at < now() - ${DOUBLE_TAP}::interval, false)`.as('isCopy')
    ])
    .executeTakeFirst()
  if (token?.isBarred) throw new RefreshFailed()
  if (token?.isCopy) {
    const { accountId, sessionId } = token
    await db.transaction().execute(async (trx) => {
      const ended = await endSessions(trx, { accountId, only: sessionId })
      if (ended > 0) await logSecurityEvent(trx, { kind: 'REFRESH_REUSED', accountId, sessionId, detail: {} })
    })
  }
  throw new InvalidRefreshToken()
}
