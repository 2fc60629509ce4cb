import Type from 'typebox'
import { withIdempotencyKey } from '@tandem/database-kit'
import { Body, ClientUrl, Data, data, Enum, Id, readIdempotencyKey, Message, message, IdempotencyHeaders, Text, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { ForeignMedia } from '../errors.ts'
import { deleteMarked } from '../media/actions.ts'
import { ensureOwn, makePrivate, protectImages } from '../media/private-copies.ts'
import { ensureMentioned } from '../mentions/actions.ts'
import { readPoll } from '../polls/actions.ts'
import { postTypes, visibilities } from '../tables.ts'
import { changePost, deletePost, openPost, publishPost } from './actions.ts'
import { describePosts, Post } from './post.ts'
import { findPost, type PostRow } from './queries.ts'
import { createViewCounter } from './views.ts'

const Content = Text({ min: 0, max: 5_000, description: 'With #hashtags and @mentions' })
const Opaque = Text({ min: 0, max: 200 })
const Moment = Type.Unsafe<string>({ type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] })

const NewPost = Body({
  type: Enum(postTypes),
  content: Type.Optional(Content),
  visibility: Enum(visibilities, { default: 'PUBLIC' }),
  mediaUrls: Type.Optional(Type.Array(ClientUrl, { maxItems: 10 })),
  mediaType: Type.Optional(Text({ min: 0, max: 100, description: 'A MIME type' })),
  activityId: Type.Optional(Opaque),
  workoutId: Type.Optional(Opaque),
  achievementId: Type.Optional(Opaque),
  pollQuestion: Type.Optional(Text({ min: 0, max: 500, description: 'Of a POLL; without it, its content is the question', examples: ['When shall we run?'] })),
  pollOptions: Type.Optional(Type.Array(Body({ text: Text({ max: 200, examples: ['At dawn'] }) }), { maxItems: 10, description: 'Of a POLL: 2 to 10' })),
  pollEndsAt: Type.Optional({ ...Moment, examples: ['2026-12-01'] }),
  locationName: Type.Optional(Text({ min: 0, max: 200 })),
  latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 }))
}, {
  examples: [{
    type: 'IMAGE',
    content: 'Morning run with @ben #running',
    visibility: 'PUBLIC',
    mediaUrls: ['https://cdn.example.com/public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp'],
    mediaType: 'image/webp',
    locationName: 'Lapangan Gasibu',
    latitude: -6.9,
    longitude: 107.62
  }]
})

const params = Type.Object({ id: Id })
const OnePost = Data(Type.Object({ post: Post }))

export const postRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  const countView = createViewCounter(db)

  const answer = async (row: PostRow, viewer: string) => {
    const [post] = await describePosts(deps, [row], viewer)
    return data({ post: post! })
  }

  app.post('/feed', {
    schema: {
      summary: 'Publish a post',
      description: 'People who are mentioned and may read it are told.',
      headers: IdempotencyHeaders,
      body: NewPost,
      response: { 201: OnePost }
    }
  }, async (request, reply) => {
    const { body, account } = request
    const { type, visibility, content = '', mediaUrls = [] } = body
    if (!mediaUrls.every((url) => media.isAllowedUrl(url))) throw new ForeignMedia()
    const poll = type === 'POLL' ? readPoll(body) : null
    await ensureMentioned(deps, content)
    const images = mediaUrls.map((url) => media.toStoredValue(url))
    await ensureOwn(db, account.id, images)
    const shown = visibility === 'PUBLIC' ? images : await makePrivate(deps, account.id, images)
    const row = await withIdempotencyKey(db, readIdempotencyKey(request), (trx) => publishPost(trx, {
      authorId: account.id,
      type,
      visibility,
      content,
      mediaUrls: shown,
      mediaType: body.mediaType || null,
      activityId: body.activityId || null,
      workoutId: body.workoutId || null,
      achievementId: body.achievementId || null,
      locationName: body.locationName || null,
      latitude: body.latitude ?? null,
      longitude: body.longitude ?? null,
      poll
    }))
    reply.code(201)
    return await answer(row, account.id)
  })

  app.get('/feed/:id', {
    schema: {
      summary: 'Read one post',
      description: 'Counts as a view, unless it is the author who reads. 403 FORBIDDEN for a post that the caller may not read, 410 GONE for a deleted one.',
      params,
      response: { 200: OnePost }
    }
  }, async ({ params, account }) => await answer(await openPost(db, countView, params.id, account.id), account.id))

  app.put('/feed/:id', {
    schema: {
      summary: 'Change a post of mine',
      description: 'Only people who are newly mentioned are told.',
      'x-extension': true,
      params,
      body: Body({ content: Type.Optional(Content), visibility: Type.Optional(Enum(visibilities)) }, { examples: [{ content: 'Evening run #running', visibility: 'FOLLOWERS' }] }),
      response: { 200: OnePost }
    }
  }, async ({ params, body, account, log }) => {
    await ensureMentioned(deps, body.content ?? '')
    const row = await changePost(db, { id: params.id, accountId: account.id, ...body })
    if (row.visibility === 'PUBLIC') return await answer(row, account.id)
    // The post is hidden, whether its images can be made private just now or by housekeeping.
    await protectImages(deps, row.id).catch((error: unknown) => log.warn({ err: error }, 'images of a post could not be made private yet'))
    return await answer(await findPost(db, row.id, account.id) ?? row, account.id)
  })

  app.delete('/feed/:id', {
    schema: { summary: 'Delete a post of mine', description: 'Reading it answers 410 GONE from then on.', params, response: { 200: Message } }
  }, async ({ params, account, log }) => {
    const shown = await deletePost(db, { id: params.id, accountId: account.id })
    // The post is gone, whether its images can be deleted just now or not.
    const failures = await deleteMarked(deps, shown)
    if (failures.length > 0) log.warn({ err: failures[0] }, 'images of a deleted post could not be deleted yet')
    return message('The post was deleted')
  })
}
