import Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { IdempotencyConflict, isRepeat } from '@tandem/database-kit'
import {
  addIgnoredFields,
  Body,
  paginate,
  Data,
  data,
  Id,
  readIdempotencyKey,
  Message,
  message,
  NextCursor,
  PageQuery,
  IdempotencyHeaders,
  Text,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  MediaNotAllowed,
  NotReacted,
  NotYourStory,
  StoryNotFound,
  MediaGone,
  StoryLimitExceeded,
  storyErrors,
  NotEmoji,
  ImageInVideo,
  StoryDurationDiffers,
  StoryVideoTooLong,
  VideoInImage
} from '../errors.ts'
import { deleteMarked } from '../media/actions.ts'
import { checkTypes, createDescriber } from '../media/queries.ts'
import { ensureOwnPrivateImages, toPrivateImage } from '../media/private-copies.ts'
import { withAuthors } from '../people/authors.ts'
import { findToday } from '../people/actions.ts'
import { deleteStory, createStory, reactToStory, removeReaction, viewStory } from './actions.ts'
import { readStoryDuration } from './duration.ts'
import { newStory } from './new-story.ts'
import { readStory, listRings, listStories, listViewers, type StoryRow } from './queries.ts'
import { Ring, Story, Viewer } from './story.ts'

const published = {
  id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e41',
  mediaUrl: 'https://cdn.example.com/public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp',
  expiresAt: '2026-11-21T06:30:00.000Z'
}

const params = Type.Object({ id: Id })

export const storyRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  async function toResponses (rows: StoryRow[], viewer: string) {
    const describe = await createDescriber(deps, rows.map(({ mediaUrl }) => mediaUrl))
    return (await withAuthors(deps, rows, viewer)).map((story) => ({
      ...story,
      mediaUrl: media.urlOf(story.mediaUrl),
      media: describe(story.mediaUrl, story.mediaType)
    }))
  }

  app.get('/stories', {
    schema: {
      operationId: 'listStories',
      summary: 'List story rings, or the stories of one user',
      description:
        "Without userId, data.storyRings: the caller's own first, then rings with unviewed stories, then the " +
        'newest. With userId, data.stories, oldest first; stories that the caller has no access to ' +
        'are not found.',
      querystring: Type.Object({ userId: Type.Optional(Id) }),
      errors: [StoryNotFound],
      response: {
        200: Data(
          Type.Object({ storyRings: Type.Optional(Type.Array(Ring)), stories: Type.Optional(Type.Array(Story)) })
        )
      }
    }
  }, async ({ query: { userId }, account }) => {
    if (userId !== undefined) {
      return data({
        stories: await toResponses(await listStories(db, userId, account.id), account.id)
      })
    }
    const rings = await withAuthors(deps, await listRings(db, account.id), account.id)
    return data({
      storyRings: rings.map(({ user, ...ring }) => ({ ...ring, userName: user.name, userImage: user.image }))
    })
  })

  app.post('/stories', {
    schema: {
      operationId: 'createStory',
      summary: 'Create a story that lasts 24 hours',
      description: `At most ${readLimits().storiesPerDay} on one calendar day in the author's time zone.`,
      headers: IdempotencyHeaders,
      body: newStory(),
      errors: [
        MediaNotAllowed,
        MediaGone,
        VideoInImage,
        ImageInVideo,
        StoryDurationDiffers,
        StoryVideoTooLong,
        StoryLimitExceeded,
        IdempotencyConflict
      ],
      response: {
        201: Data(Type.Object({ story: Type.Pick(Story, ['id', 'mediaUrl', 'expiresAt'], { examples: [published] }) }))
      }
    }
  }, async (request, reply) => {
    const { body, account } = request
    const { mediaUrl, mediaType } = body
    if (mediaType === 'IMAGE' && body.duration !== undefined) addIgnoredFields(reply, ['duration'])
    if (!media.isAllowedUrl(mediaUrl)) throw new MediaNotAllowed()
    const image = media.toStoredValue(mediaUrl)
    checkTypes([image], mediaType)
    await ensureOwnPrivateImages(db, account.id, [image])
    const idempotencyKey = readIdempotencyKey(request)
    const isRepeated = await isRepeat(db, idempotencyKey)
    const duration = mediaType === 'VIDEO' && !isRepeated ? await readStoryDuration(db, image, body.duration) : null
    const shown = isRepeated ? image : await toPrivateImage(deps, account.id, image)
    const story = await createStory(
      db,
      {
        authorId: account.id,
        mediaUrl: shown,
        mediaType,
        caption: body.caption || null,
        textColor: body.textColor ?? null,
        bgColor: body.bgColor ?? null,
        fontStyle: body.fontStyle || null,
        duration
      },
      await findToday(deps, account.id),
      idempotencyKey
    )
    reply.code(201)
    return data({ story: { ...story, mediaUrl: media.urlOf(story.mediaUrl) } })
  })

  app.get('/stories/:id', {
    schema: {
      operationId: 'viewStory',
      summary: 'View a story',
      description: "Marks the story as viewed unless it is the caller's own. After 24 hours it has " +
        'expired.',
      params,
      errors: storyErrors,
      response: { 200: Data(Type.Object({ story: Story })) }
    }
  }, async ({ method, params, account }) => {
    // A HEAD request shows the story to nobody.
    const read = method === 'GET' ? viewStory : readStory
    const [story] = await toResponses([await read(db, params.id, account.id)], account.id)
    return data({ story: story! })
  })

  app.delete('/stories/:id', {
    schema: {
      operationId: 'deleteStory',
      summary: 'Delete your story',
      description: 'Its image or video is deleted too.',
      params,
      errors: [...storyErrors, NotYourStory],
      response: { 200: Message }
    }
  }, async ({ params, account, log }) => {
    const image = await deleteStory(db, { id: params.id, accountId: account.id })
    // The story is already deleted. If its image cannot be deleted now, housekeeping does it.
    const failures = await deleteMarked(deps, [image])
    if (failures.length > 0) {
      log.warn({ err: failures[0] }, 'could not delete the image of a deleted story; housekeeping will retry')
    }
    return message('The story was deleted')
  })

  app.post(
    '/stories/:id/react',
    {
      schema: {
        operationId: 'reactToStory',
        summary: 'React to a story',
        description: 'Each user has one reaction; a new one replaces it. Reacting marks the story as viewed and ' +
          'notifies the author.',
        params,
        body: Body({ emoji: Text({ max: 64, description: 'One to four emoji' }) }, {
          examples: [{ emoji: '🔥' }]
        }),
        errors: [...storyErrors, NotEmoji],
        response: {
          200: Data(
            Type.Object({ reaction: Type.Object({ emoji: Type.String({ examples: ['🔥'] }), createdAt: Timestamp }) })
          )
        }
      }
    },
    async ({ params, body, account }) =>
      data({ reaction: await reactToStory(db, { storyId: params.id, accountId: account.id, emoji: body.emoji }) })
  )

  app.delete('/stories/:id/react', {
    schema: {
      operationId: 'removeReaction',
      summary: 'Remove your reaction to a story',
      description: 'The author is not notified; an unread notification of the reaction disappears.',
      'x-extension': true,
      params,
      errors: [...storyErrors, NotReacted],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await removeReaction(db, { storyId: params.id, accountId: account.id })
    return message('Your reaction was removed')
  })

  app.get('/stories/:id/viewers', {
    schema: {
      operationId: 'listStoryViewers',
      summary: 'List the viewers of your story, latest first',
      description: 'Each with their reaction, if they sent one.',
      'x-extension': true,
      params,
      querystring: PageQuery(),
      errors: [...storyErrors, NotYourStory],
      response: { 200: Data(Type.Object({ viewers: Type.Array(Viewer), nextCursor: NextCursor })) }
    }
  }, async ({ params, query, account }) => {
    const story = await readStory(db, params.id, account.id)
    if (story.userId !== account.id) throw new NotYourStory()
    const { page, nextCursor } = paginate(
      await listViewers(db, story.id, account.id, query),
      query.limit,
      (view) => view.cursorId
    )
    return data({ viewers: await withAuthors(deps, page, account.id), nextCursor })
  })
}
