import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { SessionsEnded, SessionStarted } from '@tandem/contracts'
import { InvalidRefreshToken, RefreshFailed, SessionNotFound } from '../errors.ts'
import type { Db, Platform, Role, Trx } from '../schema.ts'
import { maskAddress } from './addresses.ts'
import { REFRESH_TOKEN_LIFETIME, SESSION_LIFETIME } from './queries.ts'

const REFRESH_TOKEN_BYTES = 32
// A used token that comes again this soon is a double tap; later it is somebody else's.
const DOUBLE_TAP = '10 seconds'

type SignInMethod = 'REGISTRATION' | 'PASSWORD' | 'CODE' | 'PROVIDER_A' | 'PROVIDER_B'

export interface Device { deviceInfo?: string, deviceName?: string, platform?: Platform, appVersion?: string }

/** Who signs in: from where, and on what. */
export interface Client { address: string, device: Device }

interface Start { accountId: string, method: SignInMethod, client: Client }

/** Begins a session, and says so: with whether the account knows other devices and not this one. */
export async function startSession (trx: Trx, { accountId, method, client: { address, device } }: Start) {
  const { deviceInfo = null, deviceName = null, platform = null, appVersion = null } = device
  const refreshToken = makeRefreshToken()
  // One statement, so that what it reads of earlier sessions does not hold the new one.
  const { rows: [session] } = await sql<{ id: string, newDevice: boolean }>`
    with session as (
      insert into sessions (account_id, device_info, device_name, platform, app_version, ip_address)
      values (${accountId}, ${deviceInfo}::text, ${deviceName}::text, ${platform}::text, ${appVersion}, ${maskAddress(address)})
      returning id
    ), token as (
      insert into refresh_tokens (digest, session_id, expires_at)
      select ${digestOf(refreshToken)}, id, now() + ${REFRESH_TOKEN_LIFETIME}::interval from session
    )
    select id,
      exists (select from sessions where account_id = ${accountId})
        and not exists (
          select from sessions where account_id = ${accountId}
            and device_info is not distinct from ${deviceInfo}::text
            and device_name is not distinct from ${deviceName}::text
            and platform is not distinct from ${platform}::text
        ) as "newDevice"
    from session`.execute(trx)
  const { id: sessionId, newDevice } = session!
  await record(trx, SessionStarted, accountId, { accountId, sessionId, method, newDevice, deviceName, platform })
  return { sessionId, refreshToken }
}

/** Exchanges a refresh token, which is good for one use. Of several uses at once exactly one succeeds. @throws InvalidRefreshToken, RefreshFailed */
export async function refreshSession (db: Db, refreshToken: string) {
  const digest = digestOf(refreshToken)
  const refreshed = await db.transaction().execute(async (trx) => {
    const { rows: [session] } = await sql<{ sessionId: string, accountId: string, role: Role }>`
      with used as (
        update refresh_tokens set used_at = now()
        where digest = ${digest} and used_at is null and expires_at > now()
        returning session_id
      )
      update sessions set last_used_at = now()
      from used, accounts
      where sessions.id = used.session_id and sessions.ended_at is null and sessions.created_at > now() - ${SESSION_LIFETIME}::interval
        and accounts.id = sessions.account_id and accounts.barred_at is null
      returning sessions.id as "sessionId", accounts.id as "accountId", accounts.role`.execute(trx)
    return session && { ...session, refreshToken: await addRefreshToken(trx, session.sessionId) }
  })
  return refreshed ?? await refuseRefresh(db, digest)
}

/** A token that was used a while ago and comes again was copied, so the whole session ends. */
async function refuseRefresh (db: Db, digest: Buffer): Promise<never> {
  const token = await db.selectFrom('refresh_tokens')
    .innerJoin('sessions', 'sessions.id', 'session_id')
    .innerJoin('accounts', 'accounts.id', 'account_id')
    .where('digest', '=', digest)
    .select([
      'session_id as sessionId', 'account_id as accountId', sql<boolean>`barred_at is not null`.as('isBarred'),
      sql<boolean>`coalesce(used_at < now() - ${DOUBLE_TAP}::interval, false)`.as('isCopy')
    ])
    .executeTakeFirst()
  if (token?.isBarred) throw new RefreshFailed()
  if (token?.isCopy) await db.transaction().execute(async (trx) => await endSessions(trx, { accountId: token.accountId, only: token.sessionId }))
  throw new InvalidRefreshToken()
}

/** Whose sessions end: all of the account's, or `only` one, or all `except` one. */
interface Ending { accountId: string, only?: string, except?: string }

/** Ends sessions of an account and with them their tokens, and says so; returns how many. Others' are never touched. */
export async function endSessions (trx: Trx, { accountId, only, except }: Ending) {
  // Their refresh tokens stay, to be cleared when they expire: who refreshes takes the token first and then the session, so taking
  // both here, the other way round, would be a deadlock.
  const ended = await trx.updateTable('sessions').set({ ended_at: sql`now()` })
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .$if(only !== undefined, (query) => query.where('id', '=', only ?? ''))
    .$if(except !== undefined, (query) => query.where('id', '!=', except ?? ''))
    .returning('id')
    .execute()
  const sessionIds = ended.map((session) => session.id)
  if (sessionIds.length > 0) await record(trx, SessionsEnded, accountId, { accountId, sessionIds })
  return sessionIds.length
}

export interface Caller { accountId: string, sessionId: string }

/** Ends the caller's own session, or the one of `refreshToken`, or all. A token of somebody else ends nothing. */
export async function signOut (db: Db, { accountId, sessionId }: Caller, { refreshToken, allDevices }: { refreshToken?: string, allDevices?: boolean }) {
  await db.transaction().execute(async (trx) => {
    if (allDevices) return await endSessions(trx, { accountId })
    const session = refreshToken ? await findSessionOfToken(trx, accountId, refreshToken) : { id: sessionId }
    if (session) await endSessions(trx, { accountId, only: session.id })
  })
}

/** @throws SessionNotFound */
export async function revokeSession (db: Db, accountId: string, sessionId: string) {
  const ended = await db.transaction().execute(async (trx) => await endSessions(trx, { accountId, only: sessionId }))
  if (ended === 0) throw new SessionNotFound()
}

/** Ends all sessions but the one of `refreshToken`; if that is not of a session of the account, all but the caller's. */
export async function revokeOtherSessions (db: Db, { accountId, sessionId }: Caller, refreshToken?: string) {
  await db.transaction().execute(async (trx) => {
    const kept = refreshToken ? await findSessionOfToken(trx, accountId, refreshToken) : undefined
    await endSessions(trx, { accountId, except: kept?.id ?? sessionId })
  })
}

/** Ends the sessions whose refresh token has expired, and says so, because devices are known to others by their session. */
export async function endIdleSessions (db: Db) {
  const idle = await db.selectFrom('sessions')
    .where('ended_at', 'is', null)
    .where('last_used_at', '<', sql<Date>`now() - ${REFRESH_TOKEN_LIFETIME}::interval`)
    .select(['id', 'account_id as accountId'])
    .limit(1_000)
    .execute()
  for (const { id, accountId } of idle) await db.transaction().execute(async (trx) => await endSessions(trx, { accountId, only: id }))
}

async function findSessionOfToken (trx: Trx, accountId: string, refreshToken: string) {
  return await trx.selectFrom('refresh_tokens')
    .innerJoin('sessions', 'sessions.id', 'refresh_tokens.session_id')
    .where('digest', '=', digestOf(refreshToken))
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .select('sessions.id')
    .executeTakeFirst()
}

async function addRefreshToken (trx: Trx, sessionId: string) {
  const token = makeRefreshToken()
  await trx.insertInto('refresh_tokens').values({
    digest: digestOf(token), session_id: sessionId, expires_at: sql<Date>`now() + ${REFRESH_TOKEN_LIFETIME}::interval`
  }).execute()
  return token
}

const makeRefreshToken = () => randomBytes(REFRESH_TOKEN_BYTES).toString('base64url')
const digestOf = (token: string) => createHash('sha256').update(token).digest()
