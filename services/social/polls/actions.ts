import { sql } from 'kysely'
import { AlreadyVoted, PollNotFound, PollOptionNotFound, PollClosed, PollEndInPast, PollIncomplete } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { lockVisiblePost } from '../visibility/posts.ts'

export interface NewPoll {
  question: string
  options: string[]
  endsAt: Date | null
}

/** The poll of a request to create a post. @throws PollIncomplete, PollEndInPast */
export function parsePoll ({ pollQuestion, content, pollOptions = [], pollEndsAt }: {
  pollQuestion?: string | undefined,
  content?: string | undefined,
  pollOptions?: { text: string }[] | undefined,
  pollEndsAt?: string | undefined
}): NewPoll {
  const question = pollQuestion || content
  const endsAt = pollEndsAt === undefined ? null : new Date(pollEndsAt)
  if (!question || pollOptions.length < 2) throw new PollIncomplete()
  if (endsAt && endsAt.getTime() <= Date.now()) throw new PollEndInPast()
  return { question, options: pollOptions.map(({ text }) => text), endsAt }
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
