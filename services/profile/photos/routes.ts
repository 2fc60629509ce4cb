import Type from 'typebox'
import { readImage, UPLOAD_BODY_LIMIT, multipartUploads } from '@tandem/media-kit'
import { Data, data, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { uploadPhoto } from './actions.ts'

const exampleKey = 'public/6fa459ea-ee8a-4ca4-894e-db77e160355e.webp'

export const photoRoutes: Routes<Deps> = async (app, deps) => {
  await app.register(multipartUploads)

  app.post('/onboarding/upload-photo', {
    bodyLimit: UPLOAD_BODY_LIMIT,
    schema: {
      summary: 'Upload a photo for the `photos` of save-profile',
      description:
        'A JPEG, PNG or WebP image of at most 5 MB in the form field `file`. It is re-encoded without metadata. ' +
        'A photo that no save-profile uses within a day is deleted. Of the unused photos, the 20 newest are kept.',
      fileField: 'file',
      response: {
        200: Data(
          Type.Object({ url: Type.String(), key: Type.String() }, {
            examples: [{ url: `https://cdn.example.com/${exampleKey}`, key: exampleKey }]
          })
        )
      }
    }
  }, async (request) => {
    const key = await uploadPhoto(deps, request.account.id, await readImage(request, 'file', request.account.id))
    return data({ url: deps.media.urlOf(key), key })
  })
}
