import { publish } from '@tandem/bus-kit'
import { BuddiesEnded, BuddyRequestWithdrawn, Connection } from '@tandem/contracts'
import { withdrawInvitations } from '../activities/endings.ts'
import type { Deps } from '../deps.ts'
import { BuddyNotFound, BuddyRequestNotFound } from '../errors.ts'
import { lockPair, pairOf } from '../people/pairs.ts'
import { isMatchedWith } from '../people/visibility.ts'
import type { Db, Trx } from '../tables.ts'
import { lockRequest } from './actions.ts'
import { hasRefusalExpired, isBetween, isExpired } from './queries.ts'

interface RequestRow {
  id: string
  from_id: string
  to_id: string
  status: string
}

const endedColumns = ['id', 'from_id', 'to_id', 'status'] as const

/** Withdraws the caller's own open request. @throws BuddyRequestNotFound */
export async function withdrawRequest (db: Db, accountId: string, requestId: string) {
  await db.transaction().execute(async (trx) => {
    const { id, status } = await lockRequest(trx, requestId, accountId, 'from_id')
    if (status === 'ACCEPTED') throw new BuddyRequestNotFound()
    await publishWithdrawn(
      trx,
      await trx.deleteFrom('buddy_requests').where('id', '=', id).returning(endedColumns).execute()
    )
  })
}

/**
 * Ends being buddies, for both. Open invitations between people who are not connected otherwise are withdrawn.
 * @throws BuddyNotFound
 */
export async function removeBuddy ({ db, callRpc }: Deps, accountId: string, otherId: string) {
  // Leaving must not depend on social: while it is unavailable, invitations stay.
  const { isFollower = false, isFollowing = false } = await callRpc(Connection, { accountId, otherId })
    .catch(() => ({ isFollower: true, isFollowing: true }))
  await db.transaction().execute(async (trx) => {
    await lockPair(trx, accountId, otherId)
    if (!await endBuddies(trx, accountId, otherId)) throw new BuddyNotFound()
    const matched = await trx.selectFrom('profiles').where('account_id', '=', otherId).where(isMatchedWith(accountId))
      .select('id').executeTakeFirst()
    if (matched) return
    if (!isFollower) await withdrawInvitations(trx, accountId, otherId)
    if (!isFollowing) await withdrawInvitations(trx, otherId, accountId)
  })
}

/**
 * Ends being buddies and every request between two people. Call it under the pair's lock.
 * @returns whether they were buddies
 */
export async function endBuddies (trx: Trx, one: string, other: string) {
  const { low_id, high_id } = pairOf(one, other)
  const ended = await trx.deleteFrom('buddies').where('low_id', '=', low_id).where('high_id', '=', high_id)
    .returning('id').executeTakeFirst()
  if (ended) await publish(trx, BuddiesEnded, low_id, { accountIds: [low_id, high_id] })
  const requests = await trx.deleteFrom('buddy_requests').where(isBetween(one, other)).returning(endedColumns).execute()
  await publishWithdrawn(trx, requests)
  return ended !== undefined
}

/**
 * The same for everybody. Call it with the profile locked for an update, so that nothing is accepted meanwhile.
 * Refusals stay: a new profile does not end them.
 */
export async function endAllBuddies (trx: Trx, accountId: string) {
  const ended = await trx.deleteFrom('buddies')
    .where((eb) => eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)]))
    .returning(['low_id', 'high_id']).execute()
  for (const { low_id, high_id } of ended) await publish(trx, BuddiesEnded, low_id, { accountIds: [low_id, high_id] })
  const requests = await trx.deleteFrom('buddy_requests')
    .where((eb) => eb.or([eb('from_id', '=', accountId), eb('to_id', '=', accountId)]))
    .returning(endedColumns).execute()
  await publishWithdrawn(trx, requests)
}

async function publishWithdrawn (trx: Trx, requests: RequestRow[]) {
  for (const { id, from_id, to_id, status } of requests) {
    if (status !== 'PENDING') continue
    await publish(trx, BuddyRequestWithdrawn, id, { requestId: id, fromAccountId: from_id, toAccountId: to_id })
  }
}

/** Deletes requests and refusals that no longer hold. */
export async function deleteExpiredRequests (db: Db) {
  await db.deleteFrom('buddy_requests').where(isExpired).execute()
  await db.deleteFrom('buddy_refusals').where(hasRefusalExpired).execute()
}
