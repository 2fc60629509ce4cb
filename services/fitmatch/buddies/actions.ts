import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { BuddyAccepted, BuddyRequestDeclined, BuddyRequested, Connection } from '@tandem/contracts'
import { isRepeat, useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  AlreadyBuddies,
  BuddyRequestNotFound,
  CannotRequestBuddy,
  TooManyBuddyRequests,
  PersonNotFound
} from '../errors.ts'
import { lockPair, pairOf } from '../people/pairs.ts'
import { findAccountOfProfile, isOfAge, readAdult, readParticipant, type Caller } from '../people/queries.ts'
import { todayIn } from '../today.ts'
import type { Db, Trx } from '../tables.ts'
import { hasRefusalExpired, isBetween, isOpen, readRelation, requestColumns } from './queries.ts'
import { checkSport } from '../people/offered-sports.ts'

const REQUESTS_PER_DAY = 20

interface NewRequest {
  userId: string
  sport: string
  idempotencyKey?: IdempotencyKey | undefined
}
type Request = NonNullable<Awaited<ReturnType<typeof findOpenRequest>>>

/**
 * Asks a person to be the caller's buddy, or accepts their open request. A repeat returns the open request. Whether
 * the person can answer, because they have a FitMatch profile and are old enough, is not revealed: they are notified
 * only if they can.
 */
export async function requestBuddy (deps: Deps, accountId: string, { userId, sport, idempotencyKey }: NewRequest) {
  const { db, callRpc, minAge } = deps
  const me = await readAdult(deps, accountId)
  const { otherId, byProfile } = await findRequested(db, userId)
  if (otherId === accountId) {
    throw new ValidationError('userIdIsYourOwn', ['userId'])
  }
  if (!await isRepeat(db, idempotencyKey)) {
    await checkSport(callRpc, sport)
    await checkConnection(deps, accountId, { otherId, byProfile })
  }

  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    await lockPair(trx, accountId, otherId)
    const adults = await lockAdults(trx, minAge, [accountId, otherId])
    if (!adults.includes(accountId)) await readAdult({ db: trx, minAge }, accountId)
    const { isInvisible } = await readRelation(trx, accountId, otherId)
    if (isInvisible) throw new PersonNotFound()

    const canAnswer = adults.includes(otherId)
    const open = await findOpenRequest(trx, accountId, otherId)
    if (open && open.fromId === accountId) return toResponse(open, accountId)
    if (open && canAnswer) return toResponse(await acceptRequest(trx, open), accountId)
    await checkNotBuddies(trx, accountId, otherId)
    return toResponse(await insertRequest(trx, me, { otherId, byProfile, sport, canAnswer }), accountId)
  })
}

interface RequestedPerson {
  otherId: string
  /** Whether they are named by their FitMatch profile, as people are who trained with the caller. */
  byProfile: boolean
}

async function findRequested (db: Db, userId: string): Promise<RequestedPerson> {
  const otherId = await findAccountOfProfile(db, userId)
  return { otherId: otherId ?? userId, byProfile: otherId !== undefined }
}

/**
 * Who is named by their profile has trained with the caller: a follow or a request would say whose profile it is.
 * @throws PersonNotFound, CannotRequestBuddy, or Unavailable while social is unavailable
 */
async function checkConnection (
  { db, callRpc, findPeople }: Deps,
  accountId: string,
  { otherId, byProfile }: RequestedPerson
) {
  const { isKnown, isInvisible, areConnected, haveTrained } = await readRelation(db, accountId, otherId)
  if (isInvisible || (!isKnown && (await findPeople([otherId])).length === 0)) throw new PersonNotFound()
  if (haveTrained) return
  if (byProfile) throw new CannotRequestBuddy()
  if (areConnected) return
  const { isFollower, isFollowing } = await callRpc(Connection, { accountId, otherId })
  if (!isFollower && !isFollowing) throw new CannotRequestBuddy()
}

/** Locks those of the accounts whose owners can meet people, so that none is suspended or leaves FitMatch meanwhile. */
async function lockAdults (trx: Trx, minAge: number, accountIds: string[]) {
  const rows = await trx.selectFrom('profiles').where('account_id', '=', sql<string>`any(${accountIds}::uuid[])`)
    .where('suspended', '=', false)
    .where(isOfAge(minAge))
    .select('account_id as accountId')
    .orderBy('account_id')
    .forShare()
    .execute()
  return rows.map(({ accountId }) => accountId)
}

async function findOpenRequest (trx: Trx, one: string, other: string) {
  return await trx.selectFrom('buddy_requests').where(isBetween(one, other)).where(isOpen).select(requestColumns)
    .executeTakeFirst()
}

async function checkNotBuddies (trx: Trx, one: string, other: string) {
  const { low_id, high_id } = pairOf(one, other)
  const buddies = await trx.selectFrom('buddies').where('low_id', '=', low_id).where('high_id', '=', high_id)
    .select('id').executeTakeFirst()
  if (buddies) throw new AlreadyBuddies()
}

interface CheckedRequest extends RequestedPerson {
  sport: string
  canAnswer: boolean
}

async function insertRequest (
  trx: Trx,
  { accountId, timezone }: Caller,
  { otherId, byProfile, sport, canAnswer }: CheckedRequest
) {
  const used = await useDailyQuota(trx, {
    name: 'buddy requests',
    accountId,
    day: todayIn(timezone),
    limit: REQUESTS_PER_DAY
  })
  if (used === undefined) throw new TooManyBuddyRequests()
  // Expired ones, those of ended buddies, and one of somebody who can no longer meet people.
  await trx.deleteFrom('buddy_requests').where(isBetween(accountId, otherId)).execute()
  // Somebody who refused the caller asks now, so that refusal is over.
  await trx.deleteFrom('buddy_refusals').where('from_id', '=', otherId).where('to_id', '=', accountId).execute()
  const refusal = await trx.selectFrom('buddy_refusals').where('from_id', '=', accountId).where('to_id', '=', otherId)
    .where((eb) => eb.not(hasRefusalExpired)).select('from_id').executeTakeFirst()
  const request = await trx.insertInto('buddy_requests')
    .values({
      from_id: accountId,
      to_id: otherId,
      by_profile: byProfile,
      sport,
      status: refusal ? 'DECLINED' : 'PENDING'
    })
    .returning(requestColumns)
    .executeTakeFirstOrThrow()
  if (!refusal && canAnswer) await publish(trx, BuddyRequested, request.id, toEvent(request))
  return request
}

/** Answers a request to the caller. @returns the accepted request, or null after declining */
export async function respondToRequest (deps: Deps, accountId: string, requestId: string, accept: boolean) {
  const { db, minAge } = deps
  if (accept) await readAdult(deps, accountId)
  else await readParticipant(db, accountId)
  return await db.transaction().execute(async (trx) => {
    const request = await lockRequest(trx, requestId, accountId, 'to_id')
    if (request.status === 'ACCEPTED') {
      if (!accept) throw new BuddyRequestNotFound()
      return toResponse(request, accountId)
    }
    if (!accept) {
      await declineRequest(trx, request)
      return null
    }
    const adults = await lockAdults(trx, minAge, [accountId, request.fromId])
    if (!adults.includes(accountId)) await readAdult({ db: trx, minAge }, accountId)
    if (!adults.includes(request.fromId)) throw new BuddyRequestNotFound()
    return toResponse(await acceptRequest(trx, request), accountId)
  })
}

/**
 * Locks the pair, and returns their request if it is open or accepted. Only its sender or its receiver finds it.
 * @throws BuddyRequestNotFound
 */
export async function lockRequest (trx: Trx, requestId: string, accountId: string, ownColumn: 'from_id' | 'to_id') {
  const find = async () =>
    await trx.selectFrom('buddy_requests').where('id', '=', requestId).where(ownColumn, '=', accountId)
      .where((eb) => eb.or([isOpen, eb('status', '=', 'ACCEPTED')]))
      // Their own request people can withdraw from everybody.
      .$if(ownColumn === 'to_id', (requests) => requests.where(isNotHidden(sql.ref('from_id'))))
      .select(requestColumns).executeTakeFirst()
  const found = await find()
  if (!found) throw new BuddyRequestNotFound()
  await lockPair(trx, found.fromId, found.toId)
  const request = await find()
  if (!request) throw new BuddyRequestNotFound()
  return request
}

/** Both agree. Call it under the pair's lock, with both profiles locked. */
async function acceptRequest (trx: Trx, { id, fromId, toId, sport }: Request) {
  const accepted = await trx.updateTable('buddy_requests').set({ status: 'ACCEPTED' }).where('id', '=', id)
    .returning(requestColumns).executeTakeFirstOrThrow()
  await trx.deleteFrom('buddy_refusals').where(isBetween(fromId, toId)).execute()
  await trx.insertInto('buddies').values({ ...pairOf(fromId, toId), sport })
    .onConflict((conflict) => conflict.doNothing()).execute()
  await publish(trx, BuddyAccepted, id, toEvent(accepted))
  return accepted
}

async function declineRequest (trx: Trx, { id, fromId, toId }: Request) {
  await trx.updateTable('buddy_requests').set({ status: 'DECLINED' }).where('id', '=', id).execute()
  await trx.insertInto('buddy_refusals').values({ from_id: fromId, to_id: toId })
    .onConflict((conflict) => conflict.columns(['from_id', 'to_id']).doUpdateSet({ refused_at: sql`now()` }))
    .execute()
  await publish(trx, BuddyRequestDeclined, id, { requestId: id, fromAccountId: fromId, toAccountId: toId })
}

const toEvent = ({ id, fromId, toId, sport }: Request) => ({
  requestId: id,
  fromAccountId: fromId,
  toAccountId: toId,
  sport
})

/** The request as one of the two sees it: a refusal is never shown. */
const toResponse = ({ id, fromId, toId, byProfile, sport, status, createdAt }: Request, accountId: string) => ({
  id,
  userId: fromId === accountId ? toId : fromId,
  showsProfile: byProfile && fromId === accountId && status !== 'ACCEPTED',
  sport,
  status: status === 'ACCEPTED' ? 'ACCEPTED' as const : 'PENDING' as const,
  createdAt
})
