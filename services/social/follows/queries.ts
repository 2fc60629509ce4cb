import { sql } from 'kysely'
import type { Page } from '@tandem/http-kit'
import { personColumns } from '../people/queries.ts'
import type { Db } from '../tables.ts'
import { canSeePerson } from '../visibility/people.ts'

/** The followers of `accountId`, or the people they follow, newest first. The id of the follow is the cursor. */
export async function listFollows (
  db: Db,
  list: 'FOLLOWERS' | 'FOLLOWING',
  accountId: string,
  viewer: string,
  { cursor, limit }: Page
) {
  const [ownColumn, otherColumn] = list === 'FOLLOWERS'
    ? ['follows.followed_id', 'follows.follower_id'] as const
    : ['follows.follower_id', 'follows.followed_id'] as const
  return await db.selectFrom('follows').leftJoin('people', 'people.account_id', otherColumn)
    .where(ownColumn, '=', accountId)
    .where(canSeePerson(viewer, sql.ref(otherColumn)))
    .$if(cursor !== undefined, (query) => query.where('follows.id', '<', cursor!))
    .select(['follows.id as cursorId', `${otherColumn} as userId`, ...personColumns(viewer, otherColumn)])
    .orderBy('follows.id', 'desc')
    .limit(limit + 1)
    .execute()
}
