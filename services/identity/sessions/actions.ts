import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { SessionsEnded, SessionStarted } from '@tandem/contracts'
import { maskAddress, networkOf } from '@tandem/account-kit'
import { chunksOf, settleEach } from '@tandem/process-kit'
import { lockAccount } from '../accounts/queries.ts'
import { SessionNotFound } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { Db, SignInMethod, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { resumeOrReject } from './resume.ts'
import type { Device } from './schemas.ts'
import { REFRESH_TOKEN_LIFETIME, SESSION_LIFETIME } from './queries.ts'
import { lockCaller, type Caller } from './caller.ts'
import { isKnownNetwork, saveNetwork } from './networks.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'

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
 * Starts a session and publishes it. Its device is new if the account has others, and this one or its network is not
 * known. Of 50 active sessions the least recently used one ends. The caller holds the lock of the account, so concurrent
 * sign-ins are counted one after the other.
 * @throws AccountDeletionPending
 */
export async function startSession (trx: Trx, secrets: Secrets, session: NewSession) {
  const { accountId, method, client: { address, device } } = session
  await resumeOrReject(trx, secrets, { accountId, method })
  const earlier = await countSessions(trx, accountId, device)
  const isFromKnownNetwork = await isKnownNetwork(trx, accountId, networkOf(address))
  if (earlier.active >= MAX_ACTIVE_SESSIONS) await endLeastUsed(trx, accountId)
  // The name of a device proves nothing alone: a thief can write it.
  const newDevice = earlier.total > 0 && (earlier.fromDevice === 0 || !isFromKnownNetwork)
  return await insertSession(trx, secrets, { ...session, newDevice })
}

/** Starts and publishes a session without regard to others, such as that of an account that was just created. */
export async function insertSession (
  trx: Trx,
  secrets: Secrets,
  { accountId, method, client: { address, device }, refreshToken = generateToken(), newDevice = false }: NewSession & {
    newDevice?: boolean
  }
) {
  const { id: sessionId } = await trx.insertInto('sessions').values({
    account_id: accountId,
    device_info: device.deviceInfo ?? null,
    device_name: device.deviceName ?? null,
    platform: device.platform ?? null,
    app_version: device.appVersion ?? null,
    ip_address: maskAddress(address),
    device_digest: device.deviceId ? secrets.digest('device', device.deviceId) : null
  })
    .returning('id')
    .executeTakeFirstOrThrow()
  await addRefreshToken(trx, sessionId, refreshToken)
  await saveNetwork(trx, accountId, address)
  await logSecurityEvent(trx, { kind: 'SIGN_IN', accountId, sessionId, detail: { method } })
  const { deviceName = null, platform = null } = device
  await publish(trx, SessionStarted, accountId, { accountId, sessionId, method, deviceName, platform, newDevice })
  return { sessionId, refreshToken }
}

export async function addRefreshToken (trx: Trx, sessionId: string, token: string) {
  await trx.insertInto('refresh_tokens').values({
    digest: digestOfToken(token),
    session_id: sessionId,
    expires_at: sql<Date>`now() + ${REFRESH_TOKEN_LIFETIME}::interval`
  }).execute()
}

/**
 * The sessions of an account: all that are stored, the active ones, and those from this device. `deviceInfo` does not
 * count: it changes with an update of the system.
 */
async function countSessions (trx: Trx, accountId: string, { deviceName, platform }: Device) {
  return await trx.selectFrom('sessions').where('account_id', '=', accountId)
    .select((row) => [
      row.fn.countAll<number>().as('total'),
      row.fn.countAll<number>().filterWhere('ended_at', 'is', null).as('active'),
      row.fn.countAll<number>()
        .filterWhere('device_name', 'is not distinct from', deviceName ?? null)
        .filterWhere('platform', 'is not distinct from', platform ?? null)
        .as('fromDevice')
    ])
    .executeTakeFirstOrThrow()
}

/** Ends the least recently used sessions, so that there is room for one more. */
async function endLeastUsed (trx: Trx, accountId: string) {
  const ended = await trx.updateTable('sessions').set({ ended_at: sql`now()` })
    .where(
      'id',
      'in',
      (query) =>
        query.selectFrom('sessions').where('account_id', '=', accountId).where('ended_at', 'is', null)
          .select('id').orderBy('last_used_at', 'desc').offset(MAX_ACTIVE_SESSIONS - 1)
    )
    .where('ended_at', 'is', null)
    .returning('id')
    .execute()
  await publishEnded(trx, accountId, ended)
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
  for (const sessions of chunksOf(ended, IDS_PER_EVENT)) {
    await publish(trx, SessionsEnded, accountId, { accountId, sessionIds: sessions.map(({ id }) => id) })
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
 * Ends and publishes the sessions whose refresh token has expired, or that are past their lifetime, because other
 * services know devices by their session.
 */
export async function endExpiredSessions (db: Db) {
  const active = db.selectFrom('sessions').where('ended_at', 'is', null).select(['id', 'account_id as accountId'])
    .limit(1_000)
  const idle = await active.where('last_used_at', '<', sql<Date>`now() - ${REFRESH_TOKEN_LIFETIME}::interval`)
    .execute()
  // Ids are in time order, so the primary key has the oldest ones first.
  const old = await active.where('id', '<', sql<string>`(select uuidv7(-${SESSION_LIFETIME}::interval))`).orderBy('id')
    .execute()
  await settleEach([...idle, ...old], async ({ id, accountId }) => {
    await db.transaction().execute(async (trx) => {
      await lockAccount(trx, { id: accountId })
      await endSessions(trx, { accountId, only: id })
    })
  })
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
