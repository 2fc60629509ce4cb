import { sql } from 'kysely'
import type { Page } from '@tandem/http-kit'
import { personColumns } from '../people/queries.ts'
import type { Db } from '../tables.ts'
import { canSeePerson } from '../visibility/people.ts'

/** The people who like a post, newest first. The `cursorId` of the last row is the cursor of the next page. */
export async function listLikers (db: Db, postId: string, viewer: string, { cursor, limit }: Page) {
  return await db.selectFrom('likes').leftJoin('people', 'people.account_id', 'likes.account_id')
    .where('likes.post_id', '=', postId)
    .where(canSeePerson(viewer, sql.ref('likes.account_id')))
    .$if(cursor !== undefined, (query) => query.where('likes.id', '<', cursor!))
    .select(['likes.id as cursorId', 'likes.account_id as userId', ...personColumns(viewer, 'likes.account_id')])
    .orderBy('likes.id', 'desc')
    .limit(limit + 1)
    .execute()
}
