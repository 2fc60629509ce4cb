import Type from 'typebox'
import { readImage, uploadLimit } from '@tandem/media-kit'
import { Body, Data, data, Id, Message, message, ValidationError, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { TooManyPhotos } from '../errors.ts'
import { readCaller } from '../profiles/queries.ts'
import { Photo } from '../profiles/schemas.ts'
import { addPhoto, arrangePhotos, deletePhoto } from './actions.ts'
import { listPhotos } from './queries.ts'

const Photos = Data(Type.Object({ photos: Type.Array(Photo) }))

export const photoRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps

  app.get('/fitmatch/photos', {
    schema: { summary: 'List my photos', response: { 200: Photos } }
  }, async ({ account }) => data({ photos: await listPhotos(db, (await readCaller(db, account.id)).id) }))

  app.post('/fitmatch/photos', {
    schema: {
      summary: 'Add a photo',
      description: 'A form with the image in the field `file`: JPEG, PNG or WebP, at most 5 MB. A profile has at most 6 photos: 400 LIMIT_EXCEEDED.',
      consumes: ['multipart/form-data'],
      response: { 200: Data(Type.Object({ photo: Photo })) }
    },
    bodyLimit: uploadLimit
  }, async (request) => {
    const { account } = request
    const { photoCount } = await readCaller(db, account.id)
    if (photoCount >= 6) throw new TooManyPhotos()
    const { url } = await media.store('fitmatch', account.id, await readImage(request, 'file'))
    try {
      return data({ photo: await addPhoto(db, account.id, url) })
    } catch (error) {
      await media.discard(account.id, url).catch(() => {})
      throw error
    }
  })

  app.put('/fitmatch/photos', {
    schema: {
      summary: 'Put my photos in another order, or choose the main one',
      body: Body({
        photoIds: Type.Optional(Type.Array(Id, { maxItems: 6, description: 'Each of my photos once' })),
        mainPhotoId: Type.Optional(Id)
      }, { examples: [{ mainPhotoId: '019aa1f0-0000-7000-8000-000000000001' }] }),
      response: { 200: Photos }
    }
  }, async ({ body, account }) => {
    if (body.photoIds === undefined && body.mainPhotoId === undefined) throw new ValidationError('photoIds or mainPhotoId is required')
    return data({ photos: await arrangePhotos(db, account.id, body) })
  })

  app.delete('/fitmatch/photos', {
    schema: { summary: 'Delete a photo', querystring: Type.Object({ id: Id }), response: { 200: Message } }
  }, async ({ query, account }) => {
    await deletePhoto(deps, account.id, query.id)
    return message('The photo is deleted')
  })
}
