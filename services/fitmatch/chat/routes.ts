import Type from 'typebox'
import { isFeatureOn } from '@tandem/brand-kit'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  clientSignal,
  Body,
  Data,
  data,
  HookDenied,
  Id,
  readIdempotencyKey,
  Instant,
  Message,
  message,
  NextCursor,
  IdempotencyHeaders,
  partOfFeature,
  refuseFields,
  type Routes,
  Text,
  ValidationError
} from '@tandem/http-kit'
import { ImageQuotaExceeded } from '@tandem/media-kit'
import { listShared } from '../activities/queries.ts'
import { Activity, toActivity } from '../activities/schemas.ts'
import type { Deps } from '../deps.ts'
import { adultErrors, MatchNotFound, participantErrors } from '../errors.ts'
import { unmatch } from '../matches/actions.ts'
import { readParticipant } from '../people/queries.ts'
import { markRead, sendMessage, setTyping } from './actions.ts'
import { showImage, type StoredImageMessage } from './images.ts'
import { listHistory, listSince, readChat } from './queries.ts'
import { ChatMessage } from './schemas.ts'

// 5 MiB in base64, plus the rest of the message.
const MAX_BODY_BYTES = Math.floor(7.2 * 1024 * 1024)

const params = Type.Object({ matchId: Id })
const imageFields = {
  image: Type.Optional(
    Body({ base64: Type.String({ minLength: 1, maxLength: MAX_BODY_BYTES }), mimeType: Text({ max: 100 }) })
  )
}
const limit = Type.Integer({ minimum: 1, maximum: 100, default: 50 })
const Cursor = Type.Optional(Id)
const messages = Type.Array(ChatMessage)

export const chatRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media, now } = deps
  const withImage = <Stored extends StoredImageMessage>(stored: Stored) => showImage(media, stored)

  app.get('/fitmatch/chat/:matchId', {
    schema: {
      operationId: 'getChat',
      summary: 'Get a chat',
      description: "A page of messages, oldest first; the newest page without a cursor. Marks the other person's " +
        'messages up to the end of the page as read.',
      params,
      querystring: Type.Object({
        limit,
        cursor: Cursor,
        markRead: Type.Boolean({ default: true, description: 'Extension: false leaves everything unread' })
      }, { dropEmpty: ['cursor'] }),
      errors: [...participantErrors, MatchNotFound],
      response: {
        200: Data(Type.Object({
          messages,
          nextCursor: NextCursor,
          isTyping: Type.Boolean(),
          activities: Type.Array(Activity, {
            description: 'Extension: the activities to come in which both take part, soonest first'
          })
        }))
      }
    }
  }, async ({ params: { matchId }, query, account }) => {
    const me = await readParticipant(db, account.id)
    const { isTyping, otherId } = await readChat(db, account.id, matchId)
    const activities = (await listShared(db, me, otherId, now())).map((row) => toActivity(media, row))
    const { messages: stored, nextCursor } = await listHistory(db, account.id, matchId, query)
    const page = { messages: stored.map(withImage), nextCursor }
    const newest = page.messages.at(-1)
    if (!query.markRead || !newest) return data({ ...page, isTyping, activities })
    const read = new Map(
      (await markRead(db, account.id, matchId, newest.createdAt)).map(({ id, readAt }) => [id, readAt])
    )
    return data({
      ...page,
      messages: page.messages.map((each) => ({ ...each, readAt: read.get(each.id) ?? each.readAt })),
      isTyping,
      activities
    })
  })

  app.get('/fitmatch/chat/:matchId/messages', {
    schema: {
      operationId: 'listNewMessages',
      summary: 'Poll for new messages',
      description: 'Messages sent after a time (`after`) or after a message (`afterId`, an extension), oldest first. ' +
        'Marks nothing as read.',
      params,
      querystring: Type.Object({ limit, after: Type.Optional(Instant), afterId: Type.Optional(Id) }),
      errors: [...participantErrors, MatchNotFound],
      response: { 200: Data(Type.Object({ messages, isTyping: Type.Boolean() })) }
    }
  }, async ({ params: { matchId }, query: { after, afterId, limit }, account }) => {
    await readParticipant(db, account.id)
    const { isTyping } = await readChat(db, account.id, matchId)
    const stored = await listSince(db, account.id, matchId, {
      limit,
      afterId,
      ...(after !== undefined && { after: new Date(after) })
    })
    return data({ messages: stored.map(withImage), isTyping })
  })

  app.post('/fitmatch/chat/:matchId/messages', {
    preValidation: refuseFields({ chatImages: Object.keys(imageFields) }),
    schema: {
      operationId: 'sendMessage',
      summary: 'Send a message',
      description: (isFeatureOn('chatImages')
        ? 'Text of at most 1,000 characters, or an image of at most 5 MB with or without text; 500 MB of images a day. '
        : 'Text of at most 1,000 characters. ') +
        'At most 60 per minute. With a `clientMessageId` (an extension) the request can be retried safely: a retry returns the first message.',
      params,
      headers: IdempotencyHeaders,
      body: Body({
        content: Type.Optional(Text({ min: 0, max: 1000 })),
        ...partOfFeature('chatImages', imageFields),
        clientMessageId: Type.Optional(Text({ max: 100 }))
      }, {
        examples: [{
          content: 'Hi!',
          ...partOfFeature('chatImages', { image: { base64: '/9j/4AAQSkZJRg==', mimeType: 'image/jpeg' } }),
          clientMessageId: 'a1'
        }]
      }),
      errors: [...adultErrors, MatchNotFound, IdempotencyConflict, HookDenied, ImageQuotaExceeded],
      response: { 201: Data(Type.Object({ message: ChatMessage })) }
    },
    bodyLimit: MAX_BODY_BYTES
  }, async (request, reply) => {
    const { params: { matchId }, body: { content = '', image, clientMessageId }, account } = request
    if (content === '' && !image) {
      throw new ValidationError('contentOrImageIsRequired', ['content', 'image'])
    }
    const client = clientSignal(reply)
    const message = { matchId, content: content === '' ? null : content, image, clientMessageId, client }
    const sent = await sendMessage(deps, account.id, message, readIdempotencyKey(request))
    return reply.code(201).send(data({ message: { ...withImage(sent), isMine: true } }))
  })

  app.post('/fitmatch/chat/:matchId/read', {
    schema: {
      operationId: 'markChatRead',
      summary: 'Mark a chat as read',
      description: 'All messages of the other person get a `readAt`.',
      params,
      errors: [...participantErrors, MatchNotFound],
      response: { 200: Message }
    }
  }, async ({ params: { matchId }, account }) => {
    await readParticipant(db, account.id)
    await readChat(db, account.id, matchId)
    await markRead(db, account.id, matchId)
    return message('The messages are marked as read')
  })

  app.post('/fitmatch/chat/:matchId/typing', {
    schema: {
      operationId: 'setTyping',
      summary: 'Set whether I am typing',
      description: 'The other person sees it for a few seconds.',
      params,
      body: Body({ isTyping: Type.Boolean() }, { examples: [{ isTyping: true }] }),
      errors: [...adultErrors, MatchNotFound],
      response: { 200: Message }
    }
  }, async ({ params: { matchId }, body, account }) => {
    await setTyping(deps, account.id, matchId, body.isTyping)
    return message(body.isTyping ? 'Typing indicator set' : 'Typing indicator cleared')
  })

  app.delete('/fitmatch/chat/:matchId', {
    schema: {
      operationId: 'unmatch',
      summary: 'Unmatch, and remove the chat for both',
      description: 'Neither can open the chat again, or find the other.',
      params,
      errors: [...participantErrors, MatchNotFound],
      response: { 200: Message }
    }
  }, async ({ params: { matchId }, account }) => {
    await unmatch(db, account.id, matchId)
    return message('You are no longer matched')
  })
}
