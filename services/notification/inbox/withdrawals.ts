import { randomUUIDv7 } from 'node:crypto'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { forgetLikesBetween } from '../likes/digests.ts'
import type { Db, Trx } from '../tables.ts'
import { kinds, type Kind } from './kinds.ts'

/** Takes the inboxes until the end of the transaction: whatever changes unread counts takes them first, so two cannot deadlock. */
export async function lockInboxes (trx: Trx, accountIds: string[]) {
  await sql`select from inboxes where account_id = any(${accountIds}::uuid[]) order by account_id for update`.execute(trx)
}

/** Takes notices out of inboxes, and with them the pushes that wait; returns how many. */
export async function removeNotices (trx: Trx, accountIds: string[], which: RawBuilder<SqlBool>) {
  await lockInboxes(trx, accountIds)
  const { rows } = await sql<{ removed: number }>`
    with removed as (
      update notices set removed_at = now()
      where account_id = any(${accountIds}::uuid[]) and removed_at is null and ${which}
      returning account_id, listed, listed and read_at is null as counted
    ), changed as (
      update inboxes set unread = inboxes.unread - counts.unread
      from (select account_id, count(*)::int as unread from removed where counted group by account_id) counts
      where inboxes.account_id = counts.account_id
    )
    select count(*)::int as removed from removed where listed`.execute(trx)
  return rows[0]?.removed ?? 0
}

/** Of two people who are to be strangers, neither has the other in his inbox. */
export async function removeNoticesBetween (trx: Trx, one: string, other: string) {
  await lockInboxes(trx, [one, other])
  for (const [accountId, actorId] of [[one, other], [other, one]] as const) {
    const emptied = await forgetLikesBetween(trx, { accountId, likedBy: actorId })
    await removeNotices(trx, [accountId], sql`(actor_id = ${actorId} and kind <> 'postLiked' or id = any(${emptied}::uuid[]))`)
  }
}

interface Withdrawal { accountId: string, kind: Kind, cause: string }

/** Stands in the place of a notice that is not to be told any more. */
export const tombstone = ({ accountId, kind, cause }: Withdrawal) =>
  ({ id: randomUUIDv7(), account_id: accountId, cause, kind, type: kinds[kind], data: '{}', params: '{}', listed: false, removed_at: sql<Date>`now()` })

/** Takes back what was not read yet. If it was never told, it never will be: the news may have come in the wrong order. */
export async function withdrawNotice (db: Db, { accountId, kind, cause }: Withdrawal) {
  await db.transaction().execute(async (trx) => {
    const kept = await trx.insertInto('notices')
      .values(tombstone({ accountId, kind, cause }))
      .onConflict((conflict) => conflict.columns(['account_id', 'cause']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!kept) await removeNotices(trx, [accountId], sql`cause = ${cause} and read_at is null`)
  })
}

/** Whether what a notice is about is no more: its match, its post, or the comment that it opens. */
export const isGone = (subjectId: RawBuilder<unknown>, data: RawBuilder<unknown>) => sql<boolean>`(
  exists (select from ended_matches where match_id = ${subjectId})
  or exists (select from gone_texts where id in (${subjectId}, (${data} ->> 'commentId')::uuid)))`

/** A post was deleted: nobody has it in his inbox, and what comes late of it is not told. */
export async function forgetPost (db: Db, postId: string) {
  await db.transaction().execute(async (trx) => {
    await keepGone(trx, [postId])
    await removeNotices(trx, await lockTold(trx, postId), ofPost(postId))
  })
}

/** The same for comments on a post. */
export async function forgetComments (db: Db, postId: string, commentIds: string[]) {
  await db.transaction().execute(async (trx) => {
    await keepGone(trx, commentIds)
    await removeNotices(trx, await lockTold(trx, postId), sql`${ofPost(postId)} and data ->> 'commentId' = any(${commentIds}::text[])`)
  })
}

/** Fewer may read a post: its words go out of all that was told of it, and whoever cannot read it for sure is told no more of it. */
export async function narrowPost (db: Db, { postId, authorId, visibility }: { postId: string, authorId: string, visibility: 'FOLLOWERS' | 'PRIVATE' }) {
  await db.transaction().execute(async (trx) => {
    const told = await lockTold(trx, postId)
    if (visibility === 'PRIVATE') await removeNotices(trx, told.filter((accountId) => accountId !== authorId), ofPost(postId))
    await sql`
      update notices set params = params || '{"excerpt": null}'
      where removed_at is null and ${ofPost(postId)} and params ->> 'excerpt' is not null`.execute(trx)
  })
}

async function keepGone (trx: Trx, ids: string[]) {
  await trx.insertInto('gone_texts').values(ids.map((id) => ({ id }))).onConflict((conflict) => conflict.doNothing()).execute()
}

const ofPost = (postId: string) => sql<SqlBool>`(type = 'SOCIAL_FEED' and subject_id = ${postId})`

/** Takes the inboxes in which a post is told of, until the end of the transaction; returns whose they are. */
async function lockTold (trx: Trx, postId: string) {
  const { rows } = await sql<{ accountId: string }>`
    select distinct account_id as "accountId" from notices where removed_at is null and ${ofPost(postId)}`.execute(trx)
  const accountIds = rows.map((row) => row.accountId)
  await lockInboxes(trx, accountIds)
  return accountIds
}

interface EndedMatch { matchId: string, accountIds: string[] }

/** Two are strangers again: what they were told of each other's messages goes, and what comes late is not told. */
export async function endMatch (db: Db, { matchId, accountIds }: EndedMatch, at: Date) {
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('ended_matches').values({ match_id: matchId, ended_at: at }).onConflict((conflict) => conflict.doNothing()).execute()
    await removeNotices(trx, accountIds, sql`subject_id = ${matchId} and type in ('CHAT', 'FITMATCH')`)
  })
}
