import { sql } from 'kysely'
import { dayAround, isNotHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { PeopleMentioned, PeopleUnmentioned } from '@tandem/contracts'
import { useDailyQuota } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import { ensurePeopleByUsername } from '../people/actions.ts'
import { hasUsernameIn } from '../people/queries.ts'
import type { Trx, Visibility } from '../tables.ts'
import { canSeePerson } from '../visibility/people.ts'
import { excerptOf, canSeePost } from '../visibility/posts.ts'
import { parseMentions } from './parsing.ts'

// A post with 50 mentions is 50 pushes to strangers, and 300 posts a minute pass the limit of writes.
const NOTIFIED_PER_DAY = 500

/** Loads the people that a text mentions into the local copy. Call it before the transaction that stores the text. */
export const ensureMentionedPeople = async (deps: Deps, content: string) =>
  await ensurePeopleByUsername(deps, parseMentions(content))

interface MentionSource {
  post: { id: string, authorId: string, visibility: Visibility }
  /** Null for the post itself. */
  commentId: string | null
  /** The top-level comment that the comment replies to. */
  parentId?: string | null
  authorId: string
  content: string
  /** People who receive another notification for this text. */
  alreadyNotified?: string[]
}

/** Stores the mentions in a new text, as `updateMentions` does. */
export async function createMentions (trx: Trx, source: MentionSource) {
  if (parseMentions(source.content).length > 0) await updateMentions(trx, source)
}

/**
 * Stores the mentions in the current text. Publishes PeopleMentioned for people who can read the post and were not
 * mentioned in its text until now, never for its author, and PeopleUnmentioned for those who no longer are. The caller
 * holds the lock on the post's row.
 */
export async function updateMentions (
  trx: Trx,
  { post, commentId, parentId = null, authorId, content, alreadyNotified = [] }: MentionSource
) {
  const usernames = parseMentions(content)
  const isOfText = sql<boolean>`mentions.comment_id is not distinct from ${commentId}::uuid`
  // A name that stays in the text means the same person, even if another one has it by now.
  const kept = usernames.length === 0 ? [] : await trx.selectFrom('mentions')
    .where('post_id', '=', post.id).where(isOfText).where('in_text', '=', true)
    .where(sql<boolean>`lower(username) = any(${usernames}::text[])`)
    .select(['account_id as accountId', sql<string>`username`.as('username')]).execute()
  const added = usernames.filter((name) => !kept.some(({ username }) => username.toLowerCase() === name))
  const people = await listMentionable(trx, post.id, authorId, { kept, added })
  const mentionedIds = people.map(({ accountId }) => accountId)

  const changed = await trx.updateTable('mentions').where('post_id', '=', post.id).where(isOfText)
    .set({
      in_text: sql<boolean>`account_id = any(${mentionedIds}::uuid[])`,
      username: sql<string | null>`coalesce((${people.map(({ username }) => username)}::text[])
        [array_position(${mentionedIds}::uuid[], account_id)], username)`
    })
    .returning(['account_id', 'in_text', sql<boolean>`old.in_text`.as('wasInText')])
    .execute()
  const unmentioned = changed.filter(({ in_text, wasInText }) => wasInText && !in_text).map((row) => row.account_id)
  if (unmentioned.length > 0) await publish(trx, PeopleUnmentioned, post.id, { postId: post.id, unmentioned })
  if (people.length === 0) return

  const inserted = await trx.insertInto('mentions')
    .values(people.map(({ accountId, username }) => ({
      post_id: post.id,
      comment_id: commentId,
      account_id: accountId,
      username
    })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('account_id')
    .execute()
  const mentionedAgain = changed.filter(({ in_text, wasInText }) => in_text && !wasInText)
  const mentioned = [...inserted, ...mentionedAgain].map((row) => row.account_id)
    .filter((accountId) => !alreadyNotified.includes(accountId))
  if (mentioned.length === 0 || !await countNotified(trx, authorId, mentioned.length)) return
  await publish(trx, PeopleMentioned, post.id, {
    postId: post.id,
    commentId,
    ...commentId && { parentId },
    authorId,
    postAuthorId: post.authorId,
    mentioned,
    excerpt: excerptOf(content, post.visibility)
  })
}

/** Counts the people that an account mentions in a day. @returns whether they are notified */
async function countNotified (trx: Trx, accountId: string, amount: number) {
  const quota = { name: 'mentions', accountId, day: dayAround('UTC', new Date()), limit: NOTIFIED_PER_DAY, amount }
  return await useDailyQuota(trx, quota) !== undefined
}

interface Mention {
  accountId: string
  /** As the text has it. */
  username: string
}

/**
 * The people of mentions, and those with the added usernames, who can read the post, without the author of the text and
 * anyone in a block with them. People who are hidden keep the mentions that they have.
 */
async function listMentionable (
  trx: Trx,
  postId: string,
  authorId: string,
  { kept, added }: { kept: Mention[], added: string[] }
): Promise<Mention[]> {
  if (kept.length + added.length === 0) return []
  const reader = sql.ref<string>('people.account_id')
  const isKept = sql<boolean>`people.account_id = any(${kept.map(({ accountId }) => accountId)}::uuid[])`
  const rows = await trx.selectFrom('people').innerJoin('posts', (join) => join.on('posts.id', '=', postId))
    .where((person) =>
      person.or([
        hasUsernameIn(added),
        isKept
      ])
    )
    .where('people.account_id', '<>', authorId)
    .where(canSeePost(reader))
    .where(canSeePerson(authorId, reader, sql<boolean>`(${isKept} or ${isNotHidden(reader)})`))
    .select(['people.account_id as accountId', 'people.username'])
    .execute()
  return rows.map((person) => kept.find(({ accountId }) => accountId === person.accountId) ?? person)
}
