import Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { IdempotencyConflict } from '@tandem/database-kit'
import { readImage, UPLOAD_BODY_LIMIT, multipartUploads } from '@tandem/media-kit'
import {
  Body,
  Data,
  data,
  Id,
  readIdempotencyKey,
  Message,
  message,
  IdempotencyHeaders,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { TooManyPhotos, ProfileMissing, PhotoNotFound } from '../errors.ts'
import { readCaller } from '../people/queries.ts'
import { addPhoto, arrangePhotos, deletePhoto } from './actions.ts'
import { readPhotos } from './queries.ts'
import { Photo } from './schemas.ts'
import { describePhoto, describePhotos } from './describe.ts'

const Photos = Data(Type.Object({
  photos: Type.Array(Photo),
  isPhotoVerified: Type.Boolean({
    description: 'Extension: whether an approved selfie was compared with the main photo'
  })
}))

export const photoRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  const { profilePhotos } = readLimits()
  const toResponse = ({ photos, isPhotoVerified }: Awaited<ReturnType<typeof readPhotos>>) =>
    data({ photos: describePhotos(media, photos), isPhotoVerified })
  await app.register(multipartUploads)

  app.get('/fitmatch/photos', {
    schema: {
      operationId: 'listPhotos',
      summary: 'List my photos',
      description: 'In the order in which others see them.',
      errors: [ProfileMissing],
      response: { 200: Photos }
    }
  }, async ({ account }) => toResponse(await readPhotos(db, account.id)))

  app.post('/fitmatch/photos', {
    schema: {
      operationId: 'addPhoto',
      summary: 'Add a photo',
      description:
        'A multipart form with the image in the field `file`: JPEG, PNG or WebP, at most 5 MB. A profile has ' +
        `at most ${profilePhotos} photos.`,
      fileField: 'file',
      headers: IdempotencyHeaders,
      errors: [ProfileMissing, TooManyPhotos, IdempotencyConflict],
      response: { 200: Data(Type.Object({ photo: Photo })) }
    },
    bodyLimit: UPLOAD_BODY_LIMIT
  }, async (request, reply) => {
    const { account } = request
    const mayBeRetry = readIdempotencyKey(request) !== undefined
    const { photoCount } = await readCaller(db, account.id)
    // Checked before the image is re-encoded. A retry may concern the sixth photo itself.
    if (photoCount >= profilePhotos && !mayBeRetry) throw new TooManyPhotos({ max: profilePhotos })
    const image = await readImage(request, reply, 'file', account.id)
    const photo = await addPhoto(deps, account.id, image, readIdempotencyKey(request, image.bytes))
    return data({ photo: describePhoto(media, photo) })
  })

  app.put('/fitmatch/photos', {
    schema: {
      operationId: 'arrangePhotos',
      summary: 'Reorder my photos, or choose the main one',
      description: 'If the new main photo was not compared with a selfie, the photos are no longer verified, and ' +
        '`isPhotoVerified` is false. A pending verification ' +
        'is canceled if the new main photo was added after its selfie.',
      body: Body({
        photoIds: Type.Optional(Type.Array(Id, { maxItems: profilePhotos, description: 'Each of my photos, once' })),
        mainPhotoId: Type.Optional(Id)
      }, { examples: [{ mainPhotoId: '019aa1f0-0000-7000-8000-000000000001' }] }),
      errors: [ProfileMissing, PhotoNotFound],
      response: { 200: Photos }
    }
  }, async ({ body, account }) => {
    if (body.photoIds === undefined && body.mainPhotoId === undefined) {
      throw new ValidationError('photoIdsOrMainPhotoIdIsRequired', ['photoIds', 'mainPhotoId'])
    }
    return toResponse(await arrangePhotos(db, account.id, body))
  })

  app.delete('/fitmatch/photos', {
    schema: {
      operationId: 'deletePhoto',
      summary: 'Delete a photo',
      description: 'If it was the main photo, the next one becomes the main photo.',
      querystring: Type.Object({ id: Id }),
      errors: [ProfileMissing, PhotoNotFound],
      response: { 200: Message }
    }
  }, async ({ query, account }) => {
    await deletePhoto(deps, account.id, query.id)
    return message('Photo deleted')
  })
}
