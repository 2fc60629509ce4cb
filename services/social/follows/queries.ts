import { sql } from 'kysely'
import type { Page } from '@tandem/service-kit'
import { notBlocked } from '../connections/predicates.ts'
import { personColumns } from '../people/queries.ts'
import type { Db } from '../tables.ts'

/** Who follows `accountId`, or whom he follows; the newest follow first, whose id is the cursor. */
export async function listFollows (db: Db, of: 'FOLLOWERS' | 'FOLLOWING', accountId: string, viewer: string, { cursor, limit }: Page) {
  const [own, other] = of === 'FOLLOWERS' ? ['follows.followed_id', 'follows.follower_id'] as const : ['follows.follower_id', 'follows.followed_id'] as const
  return await db.selectFrom('follows').leftJoin('people', 'people.account_id', other)
    .where(own, '=', accountId)
    .where(notBlocked(viewer, sql.ref(other)))
    .$if(cursor !== undefined, (query) => query.where('follows.id', '<', cursor!))
    .select(['follows.id as cursorId', `${other} as userId`, ...personColumns(viewer, other)])
    .orderBy('follows.id', 'desc')
    .limit(limit + 1)
    .execute()
}
