import Type from 'typebox'
import { IdempotencyConflict, isRepeat } from '@tandem/database-kit'
import {
  addIgnoredFields,
  Body,
  Data,
  data,
  Enum,
  HookDenied,
  Id,
  languageOfRequest,
  readIdempotencyKey,
  Message,
  message,
  IdempotencyHeaders,
  refuseFields,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  MediaNotAllowed,
  PollIncomplete,
  PollEndInPast,
  PollEndTooLate,
  PollOptionsEqual,
  MediaGone,
  ImageInVideo,
  VideoInImage,
  postErrors,
  PostEmpty,
  NotYourPost,
  UnknownAchievement,
  UnknownActivity,
  UnknownWorkout
} from '../errors.ts'
import { deleteMarked } from '../media/actions.ts'
import { copyPhotosOfOthers } from '../media/copies.ts'
import { ensureOwnPrivateImages, toPrivateImages, replacePublicImagesOfPost } from '../media/private-copies.ts'
import { checkTypes } from '../media/queries.ts'
import { ensureMentionedPeople } from '../mentions/actions.ts'
import { findTimezone } from '../people/actions.ts'
import { findLanguage } from '../people/queries.ts'
import { parsePoll } from '../polls/actions.ts'
import { visibilities, type Visibility } from '../tables.ts'
import { updatePost, deletePost, createPost } from './actions.ts'
import { askBeforeEdit, askBeforePost } from './before-post.ts'
import { Content, linkedActivity, newPost, pollFields } from './new-post.ts'
import { toPostResponses, Post } from './post.ts'
import { findPost, readPost, type PostRow } from './queries.ts'
import { fetchSnapshots, noSnapshots } from './snapshots.ts'
import { createViewCounter } from './views.ts'

const params = Type.Object({ id: Id })
const OnePost = Data(Type.Object({ post: Post }))

export const postRoutes: Routes<Deps> = async (app, deps) => {
  const { db, hooks, media } = deps
  const countView = createViewCounter(db)

  const toResponse = async (row: PostRow, viewer: string) => {
    const [post] = await toPostResponses(deps, [row], viewer)
    return data({ post: post! })
  }

  const copyImages = async (visibility: Visibility, accountId: string, images: string[]) =>
    visibility === 'PUBLIC'
      ? await copyPhotosOfOthers(deps, accountId, images)
      : await toPrivateImages(deps, accountId, images)

  app.post('/feed', {
    preValidation: refuseFields({ polls: Object.keys(pollFields), activities: Object.keys(linkedActivity) }),
    schema: {
      operationId: 'createPost',
      summary: 'Create a post',
      description:
        'Mentioned users who can read the post are notified: up to 500 a day. The post keeps what it shows of a workout, an ' +
        'achievement or an activity as it is now.',
      headers: IdempotencyHeaders,
      body: newPost(),
      errors: [
        PostEmpty,
        PollIncomplete,
        PollOptionsEqual,
        PollEndInPast,
        PollEndTooLate,
        MediaNotAllowed,
        MediaGone,
        VideoInImage,
        ImageInVideo,
        UnknownWorkout,
        UnknownAchievement,
        UnknownActivity,
        IdempotencyConflict,
        HookDenied
      ],
      response: { 201: OnePost }
    }
  }, async (request, reply) => {
    const { body, account } = request
    const { type, visibility, content = '', mediaUrls = [] } = body
    if (type !== 'POLL') addIgnoredFields(reply, Object.keys(pollFields).filter((name) => Object.hasOwn(body, name)))
    if (!mediaUrls.every((url) => media.isAllowedUrl(url))) throw new MediaNotAllowed()
    const idempotencyKey = readIdempotencyKey(request)
    // A repeat gets its first response, even if its poll has ended, or what it shows is gone.
    const isRepeated = await isRepeat(db, idempotencyKey)
    const poll = type === 'POLL' && !isRepeated
      ? await parsePoll(body, async () => await findTimezone(deps, account.id))
      : null
    const snapshots = isRepeated ? noSnapshots : await fetchSnapshots(deps, account.id, {
      ...body,
      findLanguage: async () => languageOfRequest(request, await findLanguage(db, account.id))
    })
    await ensureMentionedPeople(deps, content)
    const images = mediaUrls.map((url) => media.toStoredValue(url))
    if (type === 'IMAGE' || type === 'VIDEO') checkTypes(images, type)
    await ensureOwnPrivateImages(db, account.id, images)
    const locationName = body.locationName || null
    if (hooks.isOn('before-post') && !isRepeated) {
      await askBeforePost(deps, account.id, { visibility, content, mediaUrls, poll, snapshots, locationName })
    }
    const row = await createPost(
      db,
      {
        authorId: account.id,
        type,
        visibility,
        content,
        mediaUrls: isRepeated ? images : await copyImages(visibility, account.id, images),
        mediaType: body.mediaType || null,
        snapshots,
        locationName,
        latitude: body.latitude ?? null,
        longitude: body.longitude ?? null,
        poll
      },
      idempotencyKey
    )
    reply.code(201)
    return await toResponse(row, account.id)
  })

  app.get('/feed/:id', {
    schema: {
      operationId: 'getPost',
      summary: 'Get a post',
      description: 'Counts as a view unless the caller is the author. A post that the caller has no access to is ' +
        'refused; a deleted one is gone.',
      params,
      errors: postErrors,
      response: { 200: OnePost }
    }
  }, async ({ method, params: { id }, account }) => {
    const post = await readPost(db, id, account.id)
    // A HEAD request shows the post to nobody.
    if (method === 'GET' && post.userId !== account.id) await countView({ postId: id, viewerId: account.id })
    return await toResponse(post, account.id)
  })

  app.put('/feed/:id', {
    schema: {
      operationId: 'updatePost',
      summary: 'Update your post',
      description: 'Only newly mentioned users are notified.',
      'x-extension': true,
      params,
      body: Body({ content: Type.Optional(Content), visibility: Type.Optional(Enum(visibilities)) }, {
        examples: [{ content: 'Evening run #running', visibility: 'FOLLOWERS' }]
      }),
      errors: [...postErrors, NotYourPost, PostEmpty, HookDenied],
      response: { 200: OnePost }
    }
  }, async ({ params, body, account, log }) => {
    await ensureMentionedPeople(deps, body.content ?? '')
    if (hooks.isOn('before-post')) await askBeforeEdit(deps, { id: params.id, accountId: account.id, changes: body })
    const row = await updatePost(db, { id: params.id, accountId: account.id, ...body })
    if (row.visibility === 'PUBLIC') return await toResponse(row, account.id)
    // The post is already hidden. If its images cannot be made private now, housekeeping does it.
    await replacePublicImagesOfPost(deps, row.id).catch((error: unknown) =>
      log.warn({ err: error }, 'could not make the images of a post private; housekeeping will retry')
    )
    return await toResponse(await findPost(db, row.id, account.id) ?? row, account.id)
  })

  app.delete('/feed/:id', {
    schema: {
      operationId: 'deletePost',
      summary: 'Delete your post',
      description: 'From then on, nobody can read it.',
      params,
      errors: [...postErrors, NotYourPost],
      response: { 200: Message }
    }
  }, async ({ params, account, log }) => {
    const images = await deletePost(db, { id: params.id, accountId: account.id })
    // The post is already deleted. If its images cannot be deleted now, housekeeping does it.
    const failures = await deleteMarked(deps, images)
    if (failures.length > 0) {
      log.warn({ err: failures[0] }, 'could not delete the images of a deleted post; housekeeping will retry')
    }
    return message('The post was deleted')
  })
}
