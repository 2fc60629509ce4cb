import { randomUUIDv7 } from 'node:crypto'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Deps } from '../deps.ts'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import { logFrames } from '../frames/log.ts'
import type { Trx } from '../tables.ts'
import { type Kind, typeOf } from '../texts/kinds.ts'
import { changeInbox } from './change-inbox.ts'

/**
 * Locks unread counts until the end of the transaction. Every change to unread counts takes these locks first, so two
 * cannot deadlock.
 */
export async function lockUnreadCounts (trx: Trx, accountIds: string[]) {
  await sql`select from unread_counts where account_id = any(${accountIds}::uuid[]) order by account_id for update`
    .execute(trx)
}

interface Removed {
  /** How many were listed. */
  removed: number
  /** The connections to wake after the commit. */
  signal: WakeUpSignal
}

/** Removes the notifications that match `condition` from inboxes, and cancels their unsent pushes. */
export async function removeNotifications (
  trx: Trx,
  accountIds: string[],
  condition: RawBuilder<SqlBool>
): Promise<Removed> {
  await lockUnreadCounts(trx, accountIds)
  const { rows } = await sql<{ accountId: string, removedIds: string[] }>`
    with removed as (
      update notifications set removed_at = now()
      where account_id = any(${accountIds}::uuid[]) and removed_at is null and ${condition}
      returning id, account_id, listed, listed and read_at is null as counted
    ), changed as (
      update unread_counts set unread = unread_counts.unread - counts.unread
      from (select account_id, count(*)::int as unread from removed where counted group by account_id) counts
      where unread_counts.account_id = counts.account_id
    )
    select account_id as "accountId", array_agg(id) as "removedIds" from removed where listed group by account_id`
    .execute(trx)
  const signal = await logFrames(
    trx,
    rows.map(({ accountId, removedIds }) => ({
      accountId,
      type: 'notifications.changed',
      ids: { readIds: [], removedIds }
    }))
  )
  return { removed: rows.reduce((sum, { removedIds }) => sum + removedIds.length, 0), signal }
}

type InboxDeps = Pick<Deps, 'db' | 'wakeUp' | 'pushes'>

interface Withdrawal {
  accountId: string
  kind: Kind
  dedupeKey: string
}

/** The row of a notification that must never be created: it occupies the dedupe key. */
export const tombstone = ({ accountId, kind, dedupeKey }: Withdrawal) => ({
  id: randomUUIDv7(),
  account_id: accountId,
  dedupe_key: dedupeKey,
  kind,
  type: typeOf(kind),
  data: '{}',
  params: '{}',
  listed: false,
  removed_at: sql<Date>`now()`
})

/**
 * Removes a notification that is still unread. If it does not exist yet it never will: events can arrive out of order.
 */
export async function withdrawNotification (deps: InboxDeps, { accountId, kind, dedupeKey }: Withdrawal) {
  await changeInbox(deps, async (trx) => {
    await lockUnreadCounts(trx, [accountId])
    const inserted = await trx.insertInto('notifications')
      .values(tombstone({ accountId, kind, dedupeKey }))
      .onConflict((conflict) => conflict.columns(['account_id', 'dedupe_key']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (inserted) return { signal: [] }
    return await removeNotifications(trx, [accountId], sql`dedupe_key = ${dedupeKey} and read_at is null`)
  })
}

/** Whether the match, the post or the comment that a notification is about was ended or deleted. */
export const isSubjectDeleted = (subjectId: RawBuilder<unknown>, data: RawBuilder<unknown>) =>
  sql<boolean>`(
  exists (select from ended_matches where match_id = ${subjectId})
  or exists (select from deleted_content where id in (${subjectId}, (${data} ->> 'commentId')::uuid)))`

/** Whether an account's place in the activity that a notification is about ended after the event. */
export const hasEnded = (
  subjectId: RawBuilder<unknown>,
  accountId: RawBuilder<unknown>,
  occurredAt: RawBuilder<unknown>
) =>
  sql<boolean>`exists (select from ended_participations ended
  where ended.activity_id = ${subjectId} and ended.account_id = ${accountId} and ended.ended_at > ${occurredAt})`

/** Removes every notification about a deleted post. An event about it that arrives later creates none. */
export async function withdrawPost (deps: InboxDeps, postId: string) {
  await changeInbox(deps, async (trx) => {
    await insertDeletedContent(trx, [postId])
    return await removeNotifications(trx, await lockNotifiedAccounts(trx, postId), isAboutPost(postId))
  })
}

/** Does the same for deleted comments on a post. */
export async function withdrawComments (deps: InboxDeps, postId: string, commentIds: string[]) {
  await changeInbox(deps, async (trx) => {
    await insertDeletedContent(trx, commentIds)
    return await removeNotifications(
      trx,
      await lockNotifiedAccounts(trx, postId),
      sql`${isAboutPost(postId)} and data ->> 'commentId' = any(${commentIds}::text[])`
    )
  })
}

interface NarrowedPost {
  postId: string
  authorId: string
  visibility: 'FOLLOWERS' | 'PRIVATE'
}

/** What quotes the text of the post itself. */
const POST_QUOTES = ['postMentioned', 'postLiked'] satisfies Kind[]

interface EditedPost {
  postId: string
  excerpt: string | null
}

/** Replaces the excerpt of a post in the notifications that quote it, unless a newer edit was applied before. */
export async function applyEdit ({ db }: InboxDeps, { postId, excerpt }: EditedPost, at: Date) {
  await db.transaction().execute(async (trx) => {
    if (!await storeEdit(trx, postId, at)) return
    await lockNotifiedAccounts(trx, postId)
    // Without an excerpt it was hidden, and stays so.
    await sql`
      update notifications set params = params || ${JSON.stringify({ excerpt })}::jsonb
      where removed_at is null and ${isAboutPost(postId)} and kind = any(${POST_QUOTES}::text[])
        and params ->> 'excerpt' is not null and (occurred_at is null or occurred_at < ${at})`.execute(trx)
  })
}

/** @returns whether it is the newest edit */
async function storeEdit (trx: Trx, postId: string, at: Date) {
  const stored = await trx.insertInto('edited_posts').values({ post_id: postId, edited_at: at })
    .onConflict((conflict) =>
      conflict.column('post_id').doUpdateSet({ edited_at: at }).where('edited_posts.edited_at', '<', at)
    )
    .returning('post_id').executeTakeFirst()
  return stored !== undefined
}

/** Whether a post was edited after an event about it, which therefore quotes an old text. */
export const isTextOutdated = (subjectId: RawBuilder<unknown>, occurredAt: RawBuilder<unknown>) =>
  sql<boolean>`exists (select from edited_posts where post_id = ${subjectId} and edited_at > ${occurredAt})`

/**
 * Removes a post's excerpt from all notifications about it. If the post became private, only its author keeps these
 * notifications.
 */
export async function applyNarrowedVisibility (
  deps: InboxDeps,
  { postId, authorId, visibility }: NarrowedPost,
  at: Date
) {
  await changeInbox(deps, async (trx) => {
    await storeEdit(trx, postId, at)
    const accountIds = await lockNotifiedAccounts(trx, postId)
    await sql`
      update notifications set params = params || '{"excerpt": null}'
      where removed_at is null and ${isAboutPost(postId)} and params ->> 'excerpt' is not null`.execute(trx)
    if (visibility !== 'PRIVATE') return { signal: [] }
    return await removeNotifications(trx, accountIds.filter((accountId) => accountId !== authorId), isAboutPost(postId))
  })
}

async function insertDeletedContent (trx: Trx, ids: string[]) {
  await trx.insertInto('deleted_content').values(ids.map((id) => ({ id }))).onConflict((conflict) =>
    conflict.doNothing()
  ).execute()
}

const isAboutPost = (postId: string) => sql<SqlBool>`(type = 'SOCIAL_FEED' and subject_id = ${postId})`

/** Locks the unread counts of all accounts that have a notification about a post; returns the accounts. */
async function lockNotifiedAccounts (trx: Trx, postId: string) {
  const { rows } = await sql<{ accountId: string }>`
    select distinct account_id as "accountId" from notifications where removed_at is null and ${isAboutPost(postId)}`
    .execute(trx)
  const accountIds = rows.map((row) => row.accountId)
  await lockUnreadCounts(trx, accountIds)
  return accountIds
}

interface EndedMatch {
  matchId: string
  accountIds: string[]
}

/** Removes the notifications of an ended match and its messages. An event about it that arrives later creates none. */
export async function withdrawMatch (deps: InboxDeps, { matchId, accountIds }: EndedMatch, at: Date) {
  await changeInbox(deps, async (trx) => {
    await trx.insertInto('ended_matches').values({ match_id: matchId, ended_at: at }).onConflict((conflict) =>
      conflict.doNothing()
    ).execute()
    const removed = await removeNotifications(
      trx,
      accountIds,
      sql`subject_id = ${matchId} and type in ('CHAT', 'FITMATCH')`
    )
    const ended = await logFrames(
      trx,
      accountIds.map((accountId) => ({ accountId, type: 'match.ended', ids: { matchId }, key: `ended:${matchId}` }))
    )
    return { signal: [...removed.signal, ...ended] }
  })
}

interface EndedParticipations {
  activityId: string
  accountIds: string[]
}

/**
 * Removes what people were notified of an activity before their place ended. An earlier event about it that arrives
 * later creates no notification. An erased account leaves no row behind: its own erasure causes the event.
 */
export async function withdrawActivity (deps: InboxDeps, { activityId, accountIds }: EndedParticipations, at: Date) {
  await changeInbox(deps, async (trx) => {
    await sql`
      insert into ended_participations (activity_id, account_id, ended_at)
      select ${activityId}, account_id, ${at} from unnest(${accountIds}::uuid[]) as ended (account_id)
      where not exists (select from departures where departures.account_id = ended.account_id)
      order by account_id
      on conflict (activity_id, account_id) do update
        set ended_at = greatest(ended_participations.ended_at, excluded.ended_at)`.execute(trx)
    return await removeNotifications(
      trx,
      accountIds,
      sql`subject_id = ${activityId} and kind <> 'activityCanceled'
      and occurred_at <= ${at}`
    )
  })
}
