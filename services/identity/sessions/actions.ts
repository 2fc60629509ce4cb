import { sql } from 'kysely'
import { publish, publishSql } from '@tandem/bus-kit'
import { SessionsEnded, SessionStarted } from '@tandem/contracts'
import { maskAddress } from '@tandem/http-kit'
import { lockAccount } from '../accounts/queries.ts'
import { SessionNotFound } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { Db, Platform, SignInMethod, Trx } from '../tables.ts'
import { REFRESH_TOKEN_LIFETIME } from './queries.ts'
import { insertSecurityEvent, logSecurityEvent } from '../security-log/actions.ts'
import { departureOf, resumeOrReject, type Departure } from './leaving.ts'
import { lockCaller, type Caller } from './caller.ts'
import { insertNetwork } from './networks.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'

export interface Device {
  deviceInfo?: string
  deviceName?: string
  platform?: Platform
  appVersion?: string
}

/** The address and device of a caller who signs in. */
export interface Client {
  address: string
  device: Device
}

interface NewSession {
  accountId: string
  method: SignInMethod
  client: Client
  /** Default: a random one. */
  refreshToken?: string | undefined
}

// More than a person has devices, and few enough for a readable list.
const MAX_ACTIVE_SESSIONS = 50
// 39 bytes each; an event has at most 64 KiB.
const IDS_PER_EVENT = 1_000

/**
 * Starts a session and publishes it. Its device is new if the account has other devices but not this one. Beyond 50 active
 * sessions the least recently used ones end. The caller holds the lock of the account, so concurrent sign-ins are
 * counted one after the other.
 * @throws AccountDeletionPending
 */
export async function startSession (
  trx: Trx,
  secrets: Secrets,
  { accountId, method, client: { address, device }, refreshToken = generateToken() }: NewSession
) {
  const { deviceInfo = null, deviceName = null, platform = null, appVersion = null } = device
  const newSession = { accountId, method, deviceName, platform }
  const signIn = { kind: 'SIGN_IN', accountId, sessionId: sql<string>`session.id`, detail: { method } } as const
  // One statement, because each costs the service about a hundredth of the password hash. Its parts see nothing of the new
  // session but what they select from `session`.
  const { rows: [started] } = await publishSql(trx, (insertEvent) =>
    sql<{ sessionId: string } & Departure>`
    with device as (
      select exists (select from sessions where account_id = ${accountId})
        and not exists (
          select from sessions where account_id = ${accountId}
            and device_info is not distinct from ${deviceInfo}::text
            and device_name is not distinct from ${deviceName}::text
            and platform is not distinct from ${platform}::text
        ) as is_new
    ), session as (
      insert into sessions (account_id, device_info, device_name, platform, app_version, ip_address)
      values (${accountId}, ${deviceInfo}::text, ${deviceName}::text, ${platform}::text, ${appVersion},
        ${maskAddress(address)})
      returning id
    ), token as (
      insert into refresh_tokens (digest, session_id, expires_at)
      select ${digestOfToken(refreshToken)}, id, now() + ${REFRESH_TOKEN_LIFETIME}::interval from session
    ), logged as (
      ${insertSecurityEvent(signIn, sql`session`)}
    ), network as (
      ${insertNetwork(accountId, address)}
    ), ended as (
      update sessions set ended_at = now()
      where id in (
        select id from sessions where account_id = ${accountId} and ended_at is null
        order by last_used_at desc offset ${sql.lit(MAX_ACTIVE_SESSIONS - 1)}
      ) and ended_at is null
      returning id
    ), ended_ids as (
      select jsonb_agg(id) as ids from ended having count(*) > 0
    ), published_start as (
      ${
      insertEvent(SessionStarted, accountId, {
        ...newSession,
        sessionId: sql`session.id`,
        newDevice: sql`device.is_new`
      }, sql`session, device`)
    }
    ), published_end as (
      ${insertEvent(SessionsEnded, accountId, { accountId, sessionIds: sql`ids` }, sql`ended_ids`)}
    )
    select session.id as "sessionId", departure.* from session, (${departureOf(accountId)}) departure`)
  const { sessionId, ...departure } = started!
  await resumeOrReject(trx, secrets, { accountId, method, departure })
  return { sessionId, refreshToken }
}

/** The sessions to end: all of the account, or `only` one, or all `except` one. */
interface EndFilter {
  accountId: string
  only?: string
  except?: string
}

/**
 * Ends and publishes sessions of an account; their tokens become invalid. Other accounts are never affected. The caller
 * holds the lock of the account.
 * @returns how many ended
 */
export async function endSessions (trx: Trx, { accountId, only, except }: EndFilter) {
  // Their refresh tokens stay until they expire. A refresh locks the token first and then the session, so locking both
  // here in the opposite order could deadlock.
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

async function publishEnded (trx: Trx, accountId: string, ended: { id: string }[]) {
  for (let from = 0; from < ended.length; from += IDS_PER_EVENT) {
    await publish(trx, SessionsEnded, accountId, {
      accountId,
      sessionIds: ended.slice(from, from + IDS_PER_EVENT).map(({ id }) => id)
    })
  }
}

/**
 * Ends the caller's own session, or the one of `refreshToken`, or all. A token of another account ends nothing.
 * @throws InvalidAccessToken
 */
export async function signOut (
  db: Db,
  caller: Caller,
  { refreshToken, allDevices }: { refreshToken?: string, allDevices?: boolean }
) {
  const { accountId, sessionId } = caller
  await db.transaction().execute(async (trx) => {
    await lockCaller(trx, caller)
    if (allDevices) return await revoke(trx, { accountId })
    const session = refreshToken ? await findSessionOfToken(trx, accountId, refreshToken) : { id: sessionId }
    if (session) await revoke(trx, { accountId, only: session.id })
  })
}

/** @throws InvalidAccessToken, SessionNotFound */
export async function revokeSession (db: Db, caller: Caller, sessionId: string) {
  await db.transaction().execute(async (trx) => {
    await lockCaller(trx, caller)
    if (await revoke(trx, { accountId: caller.accountId, only: sessionId }) === 0) throw new SessionNotFound()
  })
}

/**
 * Ends all sessions except the one of `refreshToken`; if that token does not belong to the account, all except the
 * caller's.
 * @throws InvalidAccessToken
 */
export async function revokeOtherSessions (db: Db, caller: Caller, refreshToken?: string) {
  const { accountId, sessionId } = caller
  await db.transaction().execute(async (trx) => {
    await lockCaller(trx, caller)
    const keptSession = refreshToken ? await findSessionOfToken(trx, accountId, refreshToken) : undefined
    await revoke(trx, { accountId, except: keptSession?.id ?? sessionId })
  })
}

/** Ends sessions at the request of their owner. @returns how many ended */
async function revoke (trx: Trx, filter: EndFilter) {
  const sessions = await endSessions(trx, filter)
  if (sessions > 0) {
    await logSecurityEvent(trx, {
      kind: 'SESSIONS_REVOKED',
      accountId: filter.accountId,
      detail: { by: 'OWNER', sessions }
    })
  }
  return sessions
}

/**
 * Ends and publishes the sessions whose refresh token has expired, because other services know devices by their
 * session.
 */
export async function endIdleSessions (db: Db) {
  const idle = await db.selectFrom('sessions')
    .where('ended_at', 'is', null)
    .where('last_used_at', '<', sql<Date>`now() - ${REFRESH_TOKEN_LIFETIME}::interval`)
    .select(['id', 'account_id as accountId'])
    .limit(1_000)
    .execute()
  for (const { id, accountId } of idle) {
    await db.transaction().execute(async (trx) => {
      await lockAccount(trx, { id: accountId })
      await endSessions(trx, { accountId, only: id })
    })
  }
}

async function findSessionOfToken (trx: Trx, accountId: string, refreshToken: string) {
  return await trx.selectFrom('refresh_tokens')
    .innerJoin('sessions', 'sessions.id', 'refresh_tokens.session_id')
    .where('digest', '=', digestOfToken(refreshToken))
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .select('sessions.id')
    .executeTakeFirst()
}
