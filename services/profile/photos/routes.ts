import Type from 'typebox'
import { examplePicture, Picture, readImage, UPLOAD_BODY_LIMIT, multipartUploads } from '@tandem/media-kit'
import { Data, data, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { uploadPhoto } from './actions.ts'

const exampleKey = 'public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp'

export const photoRoutes: Routes<Deps> = async (app, deps) => {
  await app.register(multipartUploads)

  app.post('/onboarding/upload-photo', {
    bodyLimit: UPLOAD_BODY_LIMIT,
    schema: {
      operationId: 'uploadOnboardingPhoto',
      summary: 'Upload a photo for the `photos` of save-profile',
      description:
        'A JPEG, PNG or WebP image of at most 5 MB in the form field `file`. It is re-encoded without metadata. ' +
        'A photo that no save-profile uses within a day is deleted. Of the unused photos, the 20 newest are kept.',
      fileField: 'file',
      errors: [PersonNotFound],
      response: {
        200: Data(
          Type.Object({ ...Picture.properties, key: Type.String() }, {
            examples: [{ ...examplePicture, key: exampleKey }]
          })
        )
      }
    }
  }, async (request, reply) => {
    const image = await readImage(request, reply, 'file', request.account.id)
    const stored = await uploadPhoto(deps, request.account.id, image)
    return data({ ...deps.media.describe(stored.key, stored), key: stored.key })
  })
}
