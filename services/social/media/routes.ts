import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import { examplePicture, Picture, readImage, UPLOAD_BODY_LIMIT, multipartUploads } from '@tandem/media-kit'
import { Data, data, readIdempotencyKey, IdempotencyHeaders, named, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { storeUpload } from './actions.ts'

const Media = named(
  'Media',
  Type.Object({
    ...Picture.properties,
    url: Type.String({ description: 'Use it in mediaUrls of a post and in mediaUrl of a story' }),
    key: Type.String(),
    mimeType: Type.String(),
    width: Type.Integer(),
    height: Type.Integer(),
    blurhash: Type.String(),
    bytes: Type.Integer()
  }, {
    examples: [{
      ...examplePicture,
      key: 'public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp',
      mimeType: 'image/webp',
      bytes: 18_203
    }]
  })
)

export const mediaRoutes: Routes<Deps> = async (app, deps) => {
  await app.register(multipartUploads)

  app.post('/media', {
    bodyLimit: UPLOAD_BODY_LIMIT,
    schema: {
      operationId: 'uploadMedia',
      summary: 'Upload an image for a post or a story',
      description:
        'multipart/form-data with the field `file`: JPEG, PNG or WebP, at most 5 MB and 40 million pixels. ' +
        'The image is re-encoded without camera metadata.',
      fileField: 'file',
      'x-extension': true,
      headers: IdempotencyHeaders,
      errors: [IdempotencyConflict],
      response: { 200: Data(Type.Object({ media: Media })) }
    }
  }, async (request, reply) => {
    const { account } = request
    const image = await readImage(request, reply, 'file', account.id)
    const idempotencyKey = readIdempotencyKey(request, image.bytes)
    const stored = await storeUpload(deps, account.id, image, idempotencyKey)
    return data({ media: { ...deps.media.describe(stored.key, stored), ...stored } })
  })
}
