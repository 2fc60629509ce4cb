import Type from 'typebox'
import { readImage, uploadLimit, uploads } from '@tandem/media-kit'
import { Data, data, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'

export const photoRoutes: Routes<Deps> = async (app, { media }) => {
  await app.register(uploads)

  app.post('/onboarding/upload-photo', {
    bodyLimit: uploadLimit,
    schema: {
      summary: 'Upload a photo, to be named in the photos of save-profile',
      description: 'A JPEG, PNG or WebP image of at most 5 MB in the field `file` of a form. It is made anew, without what a camera writes into it.',
      consumes: ['multipart/form-data'],
      response: { 200: Data(Type.Object({ url: Type.String(), key: Type.String() })) }
    }
  }, async (request) => {
    const { url, key } = await media.store('photos', request.account.id, await readImage(request, 'file'))
    return data({ url, key })
  })
}
