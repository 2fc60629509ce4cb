import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PersonFollowed, PersonUnfollowed } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { AlreadyFollowing, CannotFollowSelf, NotFollowing, PersonNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { isPersonVisibleTo } from '../people/queries.ts'
import { publishClosedBy } from '../visibility/closed-posts.ts'
import { canSeePerson } from '../visibility/people.ts'

interface Follow {
  followerId: string
  followedId: string
}

/**
 * Locks the rows of two different people in the order of their ids, so that two people who follow each other at the
 * same moment cannot deadlock.
 */
export async function lockFollowCounts (trx: Trx, accountId: string, otherId: string) {
  await trx.insertInto('follow_counts').values([accountId, otherId].sort().map((id) => ({ account_id: id })))
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((row) => ({ account_id: row.ref('excluded.account_id') }))
    )
    .execute()
}

/** @throws CannotFollowSelf, PersonNotFound if either has blocked the other, AlreadyFollowing */
export async function follow (db: Db, { followerId, followedId }: Follow, idempotencyKey?: IdempotencyKey) {
  if (followerId === followedId) throw new CannotFollowSelf()
  await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    await lockFollowCounts(trx, followerId, followedId)
    const inserted = await trx.insertInto('follows')
      .columns(['follower_id', 'followed_id'])
      .expression(sql`select ${followerId}::uuid, ${followedId}::uuid where ${canSeePerson(followerId, followedId)}`)
      .onConflict((conflict) => conflict.columns(['follower_id', 'followed_id']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!inserted) {
      throw await doesFollow(trx, { followerId, followedId })
        ? new AlreadyFollowing()
        : new PersonNotFound()
    }

    await adjustFollowCounts(trx, { followerId, followedId }, 1)
    await publish(trx, PersonFollowed, followerId, { followerId, followedId })
    return null
  })
}

/** @throws NotFollowing, PersonNotFound if the follower cannot see the person, and does not follow them */
export async function unfollow (db: Db, { followerId, followedId }: Follow) {
  if (followerId === followedId) throw new NotFollowing()
  await db.transaction().execute(async (trx) => {
    await lockFollowCounts(trx, followerId, followedId)
    const removed = await removeFollow(trx, { followerId, followedId })
    if (!removed) throw await isPersonVisibleTo(trx, followedId, followerId) ? new NotFollowing() : new PersonNotFound()
  })
}

/** Removes a follow if it exists. The caller holds the follow_counts rows of both people. */
export async function removeFollow (trx: Trx, { followerId, followedId }: Follow) {
  const { numDeletedRows } = await trx.deleteFrom('follows')
    .where('follower_id', '=', followerId)
    .where('followed_id', '=', followedId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) return false
  await adjustFollowCounts(trx, { followerId, followedId }, -1)
  await publish(trx, PersonUnfollowed, followerId, { followerId, followedId })
  await publishClosedBy(trx, { followerId, followedId })
  return true
}

async function adjustFollowCounts (trx: Trx, { followerId, followedId }: Follow, delta: 1 | -1) {
  await trx.updateTable('follow_counts').where('account_id', 'in', [followerId, followedId])
    .set({
      following_count: sql`following_count + case account_id when ${followerId}::uuid
        then ${sql.lit(delta)} else 0 end`,
      followers_count: sql`followers_count + case account_id when ${followedId}::uuid then ${sql.lit(delta)} else 0 end`
    })
    .execute()
}

async function doesFollow (trx: Trx, { followerId, followedId }: Follow) {
  return await trx.selectFrom('follows').where('follower_id', '=', followerId).where('followed_id', '=', followedId)
    .select('id').executeTakeFirst() !== undefined
}
