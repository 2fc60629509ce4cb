import Type from 'typebox'
import { Body, Data, data, Id, Message, message, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PollNotFound, postErrors, PollOptionNotFound, PollClosed, AlreadyVoted, NotVoted } from '../errors.ts'
import { castVote, removeVote } from './actions.ts'
import { Poll, toPollResponse } from './poll.ts'
import { findPoll } from './queries.ts'

export const pollRoutes: Routes<Deps> = async (app, { db }) => {
  app.post('/feed/:id/vote', {
    schema: {
      operationId: 'voteInPoll',
      summary: 'Vote in the poll of a post',
      description: 'Each user can vote once. A closed poll takes no votes.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      body: Body({ optionId: Id }, { examples: [{ optionId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e21' }] }),
      errors: [...postErrors, PollNotFound, PollOptionNotFound, PollClosed, AlreadyVoted],
      response: { 200: Data(Type.Object({ poll: Poll })) }
    }
  }, async ({ params, body, account }) => {
    await castVote(db, { postId: params.id, optionId: body.optionId, accountId: account.id })
    const poll = await findPoll(db, params.id, account.id)
    if (!poll) throw new PollNotFound()
    return data({ poll: toPollResponse(poll) })
  })

  app.delete('/feed/:id/vote', {
    schema: {
      operationId: 'removeVote',
      summary: 'Take back your vote in the poll of a post',
      description: 'Possible until the poll is closed. You can vote again afterwards.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [...postErrors, NotVoted, PollClosed],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await removeVote(db, { postId: params.id, accountId: account.id })
    return message('Your vote was removed')
  })
}
