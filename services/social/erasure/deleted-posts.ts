import { sql } from 'kysely'
import { deleteInChunks } from '@tandem/database-kit'
import { NIL_UUID } from '@tandem/http-kit'
import { settleBatches, throwErrors } from '@tandem/process-kit'
import type { Db } from '../tables.ts'
import { deleteComments, deleteLikes, deleteVotes } from './actions.ts'

const BATCH_SIZE = 100
const ROWS_PER_TRANSACTION = 1_000

/**
 * Deletes the content of posts that were deleted an hour ago, and what others did to them. Their rows stay, so that
 * reading one still returns PostGone. A like whose request saw the post before its deletion is committed by then.
 * @throws the errors of those that failed, after all others are cleared
 */
export async function clearDeletedPosts (db: Db) {
  throwErrors(
    await settleBatches({
      batchSize: BATCH_SIZE,
      concurrency: 1,
      async list (after = NIL_UUID) {
        const posts = await db.selectFrom('posts').where('cleared_at', 'is', null)
          .where('deleted_at', '<', sql<Date>`now() - interval '1 hour'`)
          .where('id', '>', after).select('id').orderBy('id').limit(BATCH_SIZE).execute()
        return posts.map(({ id }) => id)
      },
      work: async (id) => await clearPost(db, id)
    })
  )
}

/** Each chunk is a transaction: if the process is killed, the next one goes on. */
async function clearPost (db: Db, id: string) {
  const isOnPost = sql<boolean>`post_id = ${id}::uuid`
  for (const deleteActs of [deleteLikes, deleteVotes]) {
    while (await db.transaction().execute(async (trx) => await deleteActs(trx, isOnPost, ROWS_PER_TRANSACTION)) > 0);
  }
  const isComment = sql<boolean>`(${isOnPost} and deleted_at is null)`
  while (await db.transaction().execute(async (trx) => await deleteComments(trx, isComment, ROWS_PER_TRANSACTION)) > 0);
  await deleteInChunks(db, 'post_readers', isOnPost)
  await db.transaction().execute(async (trx) => {
    for (const table of ['mentions', 'post_hashtags', 'poll_options', 'polls'] as const) {
      await trx.deleteFrom(table).where('post_id', '=', id).execute()
    }
    await trx.updateTable('posts').where('id', '=', id)
      .set({
        cleared_at: sql`now()`,
        content: '',
        media_urls: [],
        media_type: null,
        activity_id: null,
        workout_id: null,
        achievement_id: null,
        workout: null,
        achievement: null,
        activity: null,
        location_name: null,
        latitude: null,
        longitude: null
      })
      .execute()
  })
}
