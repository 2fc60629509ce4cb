import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PeopleMentioned } from '@tandem/contracts'
import { notBlocked } from '../connections/predicates.ts'
import { excerptOf, visiblePost } from '../posts/visibility.ts'
import type { Deps } from '../deps.ts'
import { ensurePeopleByUsername } from '../people/actions.ts'
import { isNamed } from '../people/queries.ts'
import type { Trx, Visibility } from '../tables.ts'
import { parseMentions } from './parsing.ts'

/** Makes sure that those whom a text names are known here by these names, before the transaction that keeps it. */
export const ensureMentioned = async (deps: Deps, content: string) => await ensurePeopleByUsername(deps, parseMentions(content))

interface Mentioning {
  post: { id: string, visibility: Visibility }
  /** Null for the post itself. */
  commentId: string | null
  authorId: string
  content: string
  /** Who is told of the text in any case. */
  toldAnyway?: string[]
}

/**
 * Keeps whom a text names as it is now, and tells those who may read it and were not told of it yet; never its author.
 * The post's row has to be locked.
 */
export async function keepMentions (trx: Trx, { post, commentId, authorId, content, toldAnyway = [] }: Mentioning) {
  const names = parseMentions(content)
  const ofText = sql<boolean>`mentions.comment_id is not distinct from ${commentId}::uuid`
  const named = names.length === 0 ? [] : await listReaders(trx, post.id, authorId, names)

  await trx.updateTable('mentions').where('post_id', '=', post.id).where(ofText)
    .set({ in_text: sql<boolean>`account_id = any(${named}::uuid[])` })
    .execute()
  if (named.length === 0) return

  const added = await trx.insertInto('mentions')
    .values(named.map((accountId) => ({ post_id: post.id, comment_id: commentId, account_id: accountId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('account_id')
    .execute()
  const mentioned = added.map((row) => row.account_id).filter((accountId) => !toldAnyway.includes(accountId))
  if (mentioned.length === 0) return
  await publish(trx, PeopleMentioned, post.id, { postId: post.id, commentId, authorId, mentioned, excerpt: excerptOf(content, post.visibility) })
}

/** Who of these names may read the post, and is neither the author of the text nor apart from him. */
async function listReaders (trx: Trx, postId: string, authorId: string, names: string[]) {
  const reader = sql.ref<string>('people.account_id')
  const readers = await trx.selectFrom('people').innerJoin('posts', (join) => join.on('posts.id', '=', postId))
    .where(isNamed(names))
    .where('people.account_id', '<>', authorId)
    .where(visiblePost(reader))
    .where(notBlocked(authorId, reader))
    .select('people.account_id')
    .execute()
  return readers.map((row) => row.account_id)
}
