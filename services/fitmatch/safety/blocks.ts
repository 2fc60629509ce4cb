import { sql } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { PersonBlocked, PersonUnblocked } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'
import { endPlacesBetween } from '../activities/endings.ts'
import { endBuddies } from '../buddies/endings.ts'
import { BlockNotFound, ProfileNotFound } from '../errors.ts'
import { endMatch } from '../matches/actions.ts'
import { isSwipeBetween, lockPair } from '../people/pairs.ts'
import { hasNotBlocked, wereMatched } from '../people/visibility.ts'
import type { Db, Trx } from '../tables.ts'

interface Block {
  blockerId: string
  blockedId: string
  /** Null for a block by account. */
  profileId: string | null
  displayName: string
  reason: string | null
}

/**
 * Whether `accountId` can block the current profile's owner: anybody who has not blocked them, so pausing does not
 * protect from a block. Of hidden people only earlier matches: a deletion does not protect from a block either.
 */
export const canBeBlockedBy = (accountId: string) =>
  sql<boolean>`(${hasNotBlocked(accountId)}
    and (${isNotHidden(sql.ref('profiles.account_id'))} or ${wereMatched(accountId)}))`

/** @throws ProfileNotFound */
async function findBlockable (db: Db, accountId: string, profileId: string) {
  const profile = await db.selectFrom('profiles').where('id', '=', profileId).where(canBeBlockedBy(accountId))
    .select(['account_id as accountId', 'display_name as displayName'])
    .executeTakeFirst()
  if (!profile) throw new ProfileNotFound()
  return profile
}

export async function blockProfile (db: Db, accountId: string, profileId: string, reason: string | null) {
  const { accountId: blockedId, displayName } = await findBlockable(db, accountId, profileId)
  if (blockedId === accountId) {
    throw new ValidationError('blockedProfileIdMustNotBeYourOwn', ['blockedProfileId'])
  }
  await db.transaction().execute(async (trx) => {
    await lockPair(trx, accountId, blockedId)
    await block(trx, { blockerId: accountId, blockedId, profileId, displayName, reason })
  })
}

/**
 * Blocks a person: the match and its chat end, as do being buddies and the places in each other's activities, and the
 * swipes between the two are deleted. Call it under the pair's lock.
 */
export async function block (trx: Trx, { blockerId, blockedId, profileId, displayName, reason }: Block) {
  const pair = { blocker_id: blockerId, blocked_id: blockedId }
  const inserted = await trx.insertInto('blocks')
    .values({
      ...pair,
      profile_id: profileId,
      profile_blocked_at: profileId === null ? null : sql`now()`,
      by_account: profileId === null,
      display_name: displayName,
      reason
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('blocked_id')
    .executeTakeFirst()
  // Blocked in both ways, the person is in both lists.
  if (!inserted) await addToList(trx, pair, profileId === null ? null : { profileId, displayName, reason })
  await endMatch(trx, blockerId, blockedId)
  await endPlacesBetween(trx, blockerId, blockedId)
  await endBuddies(trx, blockerId, blockedId)
  await trx.deleteFrom('swipes').where(isSwipeBetween(blockerId, blockedId)).execute()
  if (inserted) await publish(trx, PersonBlocked, blockerId, { blockerId, blockedId })
}

/** Each list has a time of its own, and only FitMatch shows a reason: equal ones would say whose profile it is. */
async function addToList (
  trx: Trx,
  { blocker_id, blocked_id }: { blocker_id: string, blocked_id: string },
  profile: { profileId: string, displayName: string, reason: string | null } | null
) {
  const block = trx.updateTable('blocks').where('blocker_id', '=', blocker_id).where('blocked_id', '=', blocked_id)
  if (profile === null) {
    await block.where('by_account', '=', false).where('profile_id', 'is not', null)
      .set({
        by_account: true,
        created_at: sql`now()`,
        profile_blocked_at: sql`coalesce(profile_blocked_at, created_at)`
      })
      .execute()
    return
  }
  const { profileId, displayName, reason } = profile
  await block.where('profile_id', 'is', null).set({ reason, profile_blocked_at: sql`now()` }).execute()
  await block.set({ profile_id: profileId, display_name: displayName }).execute()
}

/**
 * Removes the block of a profile: the one that was blocked, or the person's current one. A block by account stays, and
 * one by account alone is none here: the answer would say whose profile it is.
 * @throws BlockNotFound
 */
export async function unblock (db: Db, accountId: string, profileId: string) {
  const find = async (current: Db) =>
    await current.selectFrom('blocks').where('blocker_id', '=', accountId)
      .where('profile_id', 'is not', null)
      .where((eb) =>
        eb.or([
          eb('profile_id', '=', profileId),
          eb('blocked_id', '=', eb.selectFrom('profiles').where('id', '=', profileId).select('account_id'))
        ])
      )
      .select(['blocked_id as blockedId', 'by_account as byAccount'])
      .executeTakeFirst()
  const found = await find(db)
  if (!found) throw new BlockNotFound()
  const { blockedId } = found
  await db.transaction().execute(async (trx) => {
    // Like `block`: a block by account at the same time must not go with this one.
    await lockPair(trx, accountId, blockedId)
    const locked = await find(trx)
    if (!locked) throw new BlockNotFound()
    if (!locked.byAccount) return await removeBlock(trx, accountId, blockedId)
    await trx.updateTable('blocks').where('blocker_id', '=', accountId).where('blocked_id', '=', blockedId)
      .set({ profile_id: null, profile_blocked_at: null, display_name: 'Someone', reason: null })
      .execute()
  })
}

/** Removes a block that is in neither list any more. */
export async function removeBlock (trx: Trx, blockerId: string, blockedId: string) {
  await trx.deleteFrom('blocks').where('blocker_id', '=', blockerId).where('blocked_id', '=', blockedId).execute()
  await publish(trx, PersonUnblocked, blockerId, { blockerId, blockedId })
}

/** The profiles an account has blocked in FitMatch, most recent first. */
export async function listBlocks (db: Db, accountId: string) {
  return await db.selectFrom('blocks').where('blocker_id', '=', accountId)
    .where('profile_id', 'is not', null)
    .select([
      'profile_id as profileId',
      'display_name as displayName',
      'reason',
      // Null in blocks from before the column.
      sql<Date>`coalesce(profile_blocked_at, created_at)`.as('blockedAt')
    ])
    .$narrowType<{ profileId: string }>()
    .orderBy('blockedAt', 'desc')
    .limit(1_000)
    .execute()
}
