import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  Message,
  message,
  NextCursor,
  NotModified,
  Nullable,
  PageQuery,
  Timestamp,
  preferredLanguage,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { NotificationNotFound } from '../errors.ts'
import { markNotificationsRead, deleteNotification } from './actions.ts'
import { notificationTypes } from '../texts/types.ts'
import { readUnreadCount, readInbox } from './queries.ts'

const Actor = named(
  'NotificationActor',
  Type.Object({ id: Type.String(), name: Type.String(), image: Nullable(Type.String()) })
)

const Notification = named(
  'Notification',
  Type.Object({
    id: Type.String(),
    type: Enum(notificationTypes),
    title: Type.String(),
    body: Type.String(),
    data: Type.Record(Type.String(), Type.String(), { description: 'The ids that the app opens' }),
    actor: Nullable(Actor, {
      description: 'The person whose action it reports; the latest of several. In FitMatch their profile: `id` is a ' +
        'profile id, as `profileId` of `data`'
    }),
    readAt: Nullable(Timestamp),
    createdAt: Timestamp
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e20',
      type: 'SOCIAL_FEED',
      title: 'New likes',
      body: 'Ana and 4 others like your post',
      data: { postId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e12' },
      actor: { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', name: 'Ana', image: null },
      readAt: null,
      createdAt: '2026-11-20T08:00:00.000Z'
    }]
  })
)

const Count = Type.Integer({ minimum: 0, description: 'At most 10,000', examples: [3] })

export const inboxRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  app.get('/notifications', {
    schema: {
      operationId: 'listNotifications',
      summary: 'List the caller’s notifications',
      description: 'Newest first. Texts are in the language of Accept-Language. ' +
        'If it names no supported language, they are in the language of the caller’s profile.',
      'x-extension': true,
      querystring: PageQuery({ unreadOnly: Type.Boolean({ default: false }) }),
      response: {
        200: Data(Type.Object({
          notifications: Type.Array(Notification),
          nextCursor: NextCursor,
          unreadCount: Count
        })),
        304: NotModified
      }
    }
  }, async (request) => data(await readInbox(deps, request.account.id, request.query, preferredLanguage(request))))

  app.get('/notifications/unread-count', {
    schema: {
      operationId: 'countUnreadNotifications',
      summary: 'Count the caller’s unread notifications',
      description: 'For the badge of the app.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ count: Count })) }
    }
  }, async ({ account }) => data({ count: await readUnreadCount(db, account.id) }))

  app.post('/notifications/read', {
    schema: {
      operationId: 'markNotificationsRead',
      summary: 'Mark notifications as read',
      description: 'Without ids, all are marked. Ids of other people’s notifications and of read ones are ignored.',
      'x-extension': true,
      body: Body({ ids: Type.Optional(Type.Array(Id, { maxItems: 500 })) }, {
        examples: [{ ids: ['01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e20'] }, {}]
      }),
      response: {
        200: Data(
          Type.Object({ updated: Type.Integer({ minimum: 0, description: 'How many were unread', examples: [1] }) })
        )
      }
    }
  }, async ({ body, account }) => data({ updated: await markNotificationsRead(deps, account, body.ids) }))

  app.delete('/notifications/:id', {
    schema: {
      operationId: 'deleteNotification',
      summary: 'Delete a notification',
      description: 'A push that is still waiting is not sent. A notification of someone else is not found.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [NotificationNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteNotification(deps, account, params.id)
    return message('The notification was deleted')
  })
}
