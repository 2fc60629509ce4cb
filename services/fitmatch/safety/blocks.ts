import { record } from '@tandem/bus-kit'
import { MatchEnded, PersonBlocked, PersonUnblocked } from '@tandem/contracts'
import { sql } from 'kysely'
import { ValidationError } from '@tandem/service-kit'
import { BlockNotFound, ProfileNotFound } from '../errors.ts'
import { lockPair, pairOf } from '../matches/pairs.ts'
import { isVisibleTo } from '../profiles/queries.ts'
import type { Db, Trx } from '../schema.ts'

interface Block { blockerId: string, blockedId: string, profileId: string, displayName: string, reason: string | null }

/** Whom `accountId` may block: whoever he can see, and whom he has blocked already. @throws ProfileNotFound */
async function findBlockable (db: Db, accountId: string, profileId: string) {
  const profile = await db.selectFrom('profiles').where('id', '=', profileId)
    .where((eb) => eb.or([
      isVisibleTo(accountId),
      eb.exists(eb.selectFrom('blocks').where('blocker_id', '=', accountId).whereRef('blocked_id', '=', 'profiles.account_id').select('blocked_id'))
    ]))
    .select(['account_id as accountId', 'display_name as displayName'])
    .executeTakeFirst()
  if (!profile) throw new ProfileNotFound()
  return profile
}

export async function blockProfile (db: Db, accountId: string, profileId: string, reason: string | null) {
  const { accountId: blockedId, displayName } = await findBlockable(db, accountId, profileId)
  if (blockedId === accountId) throw new ValidationError('This profile is your own')
  await db.transaction().execute(async (trx) => {
    await lockPair(trx, accountId, blockedId)
    await block(trx, { blockerId: accountId, blockedId, profileId, displayName, reason })
  })
}

/**
 * Makes two people strangers for good: their match ends, and with it their chat, and what they wished of each other is forgotten. The
 * messages stay for a while where nobody reads them, should one of the two report the other. Call it under the pair's lock.
 */
export async function block (trx: Trx, { blockerId, blockedId, profileId, displayName, reason }: Block) {
  const fresh = await trx.insertInto('blocks')
    .values({ blocker_id: blockerId, blocked_id: blockedId, profile_id: profileId, display_name: displayName, reason })
    .onConflict((conflict) => conflict.doNothing())
    .returning('blocked_id')
    .executeTakeFirst()
  const { low_id, high_id } = pairOf(blockerId, blockedId)
  const ended = await trx.updateTable('matches').set({ ended_at: sql`now()` })
    .where('low_id', '=', low_id).where('high_id', '=', high_id).where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  await trx.deleteFrom('swipes')
    .where((eb) => eb.or([
      eb.and([eb('swiper_id', '=', low_id), eb('target_id', '=', high_id)]),
      eb.and([eb('swiper_id', '=', high_id), eb('target_id', '=', low_id)])
    ]))
    .execute()
  if (ended) await record(trx, MatchEnded, ended.id, { matchId: ended.id, accountIds: [low_id, high_id] })
  if (fresh) await record(trx, PersonBlocked, blockerId, { blockerId, blockedId })
}

/** Lifts a block, named by the profile as it was blocked or by the one the person has now. @throws BlockNotFound */
export async function unblock (db: Db, accountId: string, profileId: string) {
  await db.transaction().execute(async (trx) => {
    const lifted = await trx.deleteFrom('blocks')
      .where('blocker_id', '=', accountId)
      .where((eb) => eb.or([
        eb('profile_id', '=', profileId),
        eb('blocked_id', '=', eb.selectFrom('profiles').where('id', '=', profileId).select('account_id'))
      ]))
      .returning('blocked_id')
      .executeTakeFirst()
    if (!lifted) throw new BlockNotFound()
    await record(trx, PersonUnblocked, accountId, { blockerId: accountId, blockedId: lifted.blocked_id })
  })
}

/** Whom an account has blocked, the last one first. */
export async function listBlocks (db: Db, accountId: string) {
  return await db.selectFrom('blocks').where('blocker_id', '=', accountId)
    .select(['profile_id as profileId', 'display_name as displayName', 'reason', 'created_at as blockedAt'])
    .orderBy('created_at', 'desc')
    .limit(1_000)
    .execute()
}
