import { sql } from 'kysely'
import { startOfDay } from '@tandem/account-kit'
import { lowerCounters } from '../counters.ts'
import {
  AlreadyVoted,
  NotVoted,
  PollClosed,
  PollEndInPast,
  PollEndTooLate,
  PollIncomplete,
  PollNotFound,
  PollOptionNotFound,
  PollOptionsEqual
} from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { lockPost, lockVisiblePost, readVisiblePost } from '../visibility/posts.ts'

export interface NewPoll {
  question: string
  options: string[]
  endsAt: Date | null
}

const MAX_POLL_DAYS = 366
const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * The poll of a request to create a post.
 * @param findTimezone the author's: a poll that ends on a date lasts until the end of their day
 * @throws PollIncomplete, PollOptionsEqual, PollEndInPast, PollEndTooLate
 */
export async function parsePoll ({ pollQuestion, content, pollOptions = [], pollEndsAt }: {
  pollQuestion?: string | undefined,
  content?: string | undefined,
  pollOptions?: { text: string }[] | undefined,
  pollEndsAt?: string | undefined
}, findTimezone: () => Promise<string>): Promise<NewPoll> {
  const question = pollQuestion || content
  const options = pollOptions.map(({ text }) => text)
  if (!question || options.length < 2) throw new PollIncomplete()
  if (new Set(options.map(foldOption)).size < options.length) throw new PollOptionsEqual()
  return { question, options, endsAt: pollEndsAt === undefined ? null : await readEnd(pollEndsAt, findTimezone) }
}

const foldOption = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ')

async function readEnd (text: string, findTimezone: () => Promise<string>) {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text)
  const endsAt = isDate
    ? startOfDay(await findTimezone(), Temporal.PlainDate.from(text).add({ days: 1 }))
    : new Date(text)
  const msLeft = endsAt.getTime() - Date.now()
  if (msLeft <= 0) throw new PollEndInPast()
  // The date of today in a year lasts for up to a day more.
  if (msLeft > (MAX_POLL_DAYS + Number(isDate)) * DAY_MS) throw new PollEndTooLate()
  return endsAt
}

export async function insertPoll (trx: Trx, postId: string, { question, options, endsAt }: NewPoll) {
  await trx.insertInto('polls').values({ post_id: postId, question, ends_at: endsAt }).execute()
  await trx.insertInto('poll_options').values(options.map((text, position) => ({ post_id: postId, position, text })))
    .execute()
}

/** @throws PollNotFound, PollClosed, PollOptionNotFound, AlreadyVoted, and the errors of reading the post */
export async function castVote (
  db: Db,
  { postId, optionId, accountId }: { postId: string, optionId: string, accountId: string }
) {
  await db.transaction().execute(async (trx) => {
    await lockVisiblePost(trx, postId, accountId)
    const poll = await trx.selectFrom('polls').where('post_id', '=', postId)
      .select(sql<boolean>`ends_at <= now()`.as('isClosed'))
      .executeTakeFirst()
    if (!poll) throw new PollNotFound()
    if (poll.isClosed) throw new PollClosed()

    const option = await trx.selectFrom('poll_options').where('post_id', '=', postId).where('id', '=', optionId).select(
      'id'
    ).executeTakeFirst()
    if (!option) throw new PollOptionNotFound()
    const inserted = await trx.insertInto('poll_votes').values({
      post_id: postId,
      account_id: accountId,
      option_id: optionId
    })
      .onConflict((conflict) => conflict.doNothing())
      .returning('post_id')
      .executeTakeFirst()
    if (!inserted) throw new AlreadyVoted()

    await trx.updateTable('poll_options').where('id', '=', optionId).set((row) => ({
      votes_count: row('votes_count', '+', 1)
    })).execute()
    await trx.updateTable('polls').where('post_id', '=', postId).set((row) => ({
      total_votes: row('total_votes', '+', 1)
    })).execute()
  })
}

/**
 * Takes a vote back while the poll is open, also on a post that the person can no longer see.
 * @throws NotVoted, PollClosed, and the errors of reading the post
 */
export async function removeVote (db: Db, { postId, accountId }: { postId: string, accountId: string }) {
  await db.transaction().execute(async (trx) => {
    await lockPost(trx, postId)
    const vote = await trx.selectFrom('poll_votes').innerJoin('polls', 'polls.post_id', 'poll_votes.post_id')
      .where('poll_votes.post_id', '=', postId).where('account_id', '=', accountId)
      .select(['option_id as optionId', sql<boolean>`ends_at <= now()`.as('isClosed')])
      .executeTakeFirst()
    if (!vote) {
      await readVisiblePost(trx, postId, accountId)
      throw new NotVoted()
    }
    if (vote.isClosed) throw new PollClosed()
    await trx.deleteFrom('poll_votes').where('post_id', '=', postId).where('account_id', '=', accountId).execute()
    await lowerCounters(trx, 'poll_options', 'votes_count', [vote.optionId])
    await lowerCounters(trx, 'polls', 'total_votes', [postId])
  })
}
