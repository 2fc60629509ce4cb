import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PersonFollowed, PersonUnfollowed } from '@tandem/contracts'
import { notBlocked } from '../connections/predicates.ts'
import { AlreadyFollowing, CannotFollowSelf, NotFollowing, PersonNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'

interface Follow { followerId: string, followedId: string }

/** Takes the rows of two different people, always in the same order, so that two who follow each other at once do not wait for each other. */
export async function lockStandings (trx: Trx, one: string, other: string) {
  await trx.insertInto('standings').values([one, other].sort().map((accountId) => ({ account_id: accountId })))
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet((row) => ({ account_id: row.ref('excluded.account_id') })))
    .execute()
}

/** @throws CannotFollowSelf, PersonNotFound when one has blocked the other, AlreadyFollowing */
export async function follow (db: Db, { followerId, followedId }: Follow) {
  if (followerId === followedId) throw new CannotFollowSelf()
  await db.transaction().execute(async (trx) => {
    await lockStandings(trx, followerId, followedId)
    const added = await trx.insertInto('follows')
      .columns(['follower_id', 'followed_id'])
      .expression(sql`select ${followerId}::uuid, ${followedId}::uuid where ${notBlocked(followerId, followedId)}`)
      .onConflict((conflict) => conflict.columns(['follower_id', 'followed_id']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!added) throw await isFollowed(trx, { followerId, followedId }) ? new AlreadyFollowing() : new PersonNotFound()

    await count(trx, { followerId, followedId }, 1)
    await publish(trx, PersonFollowed, followerId, { followerId, followedId })
  })
}

/** @throws NotFollowing */
export async function unfollow (db: Db, { followerId, followedId }: Follow) {
  if (followerId === followedId) throw new NotFollowing()
  await db.transaction().execute(async (trx) => {
    await lockStandings(trx, followerId, followedId)
    const dropped = await removeFollow(trx, { followerId, followedId })
    if (!dropped) throw new NotFollowing()
  })
}

/** Ends a follow, if there is one, under the lock of both people. */
export async function removeFollow (trx: Trx, { followerId, followedId }: Follow) {
  const { numDeletedRows } = await trx.deleteFrom('follows')
    .where('follower_id', '=', followerId)
    .where('followed_id', '=', followedId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) return false
  await count(trx, { followerId, followedId }, -1)
  await publish(trx, PersonUnfollowed, followerId, { followerId, followedId })
  return true
}

async function count (trx: Trx, { followerId, followedId }: Follow, by: 1 | -1) {
  await trx.updateTable('standings').where('account_id', 'in', [followerId, followedId])
    .set({
      following_count: sql`following_count + case account_id when ${followerId}::uuid then ${sql.lit(by)} else 0 end`,
      followers_count: sql`followers_count + case account_id when ${followedId}::uuid then ${sql.lit(by)} else 0 end`
    })
    .execute()
}

async function isFollowed (trx: Trx, { followerId, followedId }: Follow) {
  return await trx.selectFrom('follows').where('follower_id', '=', followerId).where('followed_id', '=', followedId)
    .select('id').executeTakeFirst() !== undefined
}
