import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { SessionsEnded, SessionStarted } from '@tandem/contracts'
import { maskAddress } from '@tandem/service-kit'
import { SessionNotFound } from '../errors.ts'
import type { Db, Platform, Trx } from '../tables.ts'
import { REFRESH_TOKEN_LIFETIME } from './queries.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { rememberNetwork } from './networks.ts'
import { digestOf, makeRefreshToken } from './refresh-tokens.ts'

type SignInMethod = 'REGISTRATION' | 'PASSWORD' | 'CODE' | 'PROVIDER_A' | 'PROVIDER_B'

export interface Device { deviceInfo?: string, deviceName?: string, platform?: Platform, appVersion?: string }

/** Who signs in: from where, and on what. */
export interface Client { address: string, device: Device }

interface Start { accountId: string, method: SignInMethod, client: Client }

// More devices than a person has, and few enough to read in a list.
const MAX_LIVE_SESSIONS = 50
// 39 bytes each, in an event of at most 64 KiB.
const IDS_PER_EVENT = 1_000

/**
 * Begins a session, and publishes it: with whether the account knows other devices and not this one. Beyond 50 live sessions those end that
 * were used longest ago. The caller holds the account's row, so sign-ins at once are counted one after the other.
 */
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
  await logSecurityEvent(trx, { kind: 'SIGN_IN', accountId, sessionId, detail: { method } })
  await publish(trx, SessionStarted, accountId, { accountId, sessionId, method, newDevice, deviceName, platform })
  await endOldestSessions(trx, accountId, sessionId)
  await rememberNetwork(trx, accountId, address)
  return { sessionId, refreshToken }
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
  await publishEnded(trx, accountId, ended)
  return ended.length
}

async function endOldestSessions (trx: Trx, accountId: string, newest: string) {
  const ended = await trx.updateTable('sessions').set({ ended_at: sql`now()` })
    .where('id', 'in', (from) => from.selectFrom('sessions')
      .where('account_id', '=', accountId)
      .where('ended_at', 'is', null)
      .where('id', '!=', newest)
      .orderBy('last_used_at', 'desc')
      .offset(sql.lit(MAX_LIVE_SESSIONS - 1))
      .select('id'))
    .where('ended_at', 'is', null)
    .returning('id')
    .execute()
  await publishEnded(trx, accountId, ended)
}

async function publishEnded (trx: Trx, accountId: string, ended: { id: string }[]) {
  for (let from = 0; from < ended.length; from += IDS_PER_EVENT) {
    await publish(trx, SessionsEnded, accountId, { accountId, sessionIds: ended.slice(from, from + IDS_PER_EVENT).map(({ id }) => id) })
  }
}

export interface Caller { accountId: string, sessionId: string }

/** Ends the caller's own session, or the one of `refreshToken`, or all. A token of somebody else ends nothing. */
export async function signOut (db: Db, { accountId, sessionId }: Caller, { refreshToken, allDevices }: { refreshToken?: string, allDevices?: boolean }) {
  await db.transaction().execute(async (trx) => {
    if (allDevices) return await revoke(trx, { accountId })
    const session = refreshToken ? await findSessionOfToken(trx, accountId, refreshToken) : { id: sessionId }
    if (session) await revoke(trx, { accountId, only: session.id })
  })
}

/** @throws SessionNotFound */
export async function revokeSession (db: Db, accountId: string, sessionId: string) {
  const ended = await db.transaction().execute(async (trx) => await revoke(trx, { accountId, only: sessionId }))
  if (ended === 0) throw new SessionNotFound()
}

/** Ends all sessions but the one of `refreshToken`; if that is not of a session of the account, all but the caller's. */
export async function revokeOtherSessions (db: Db, { accountId, sessionId }: Caller, refreshToken?: string) {
  await db.transaction().execute(async (trx) => {
    const kept = refreshToken ? await findSessionOfToken(trx, accountId, refreshToken) : undefined
    await revoke(trx, { accountId, except: kept?.id ?? sessionId })
  })
}

/** Ends sessions on their owner's request; returns how many. */
async function revoke (trx: Trx, ending: Ending) {
  const sessions = await endSessions(trx, ending)
  if (sessions > 0) await logSecurityEvent(trx, { kind: 'SESSIONS_REVOKED', accountId: ending.accountId, detail: { by: 'OWNER', sessions } })
  return sessions
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
