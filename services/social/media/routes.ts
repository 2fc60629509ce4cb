import Type from 'typebox'
import { isFeatureOn, readLimits } from '@tandem/brand-kit'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  ImageQuotaExceeded,
  multipartUploads,
  reencodeImage,
  VIDEO_BODY_LIMIT,
  videoErrors,
  VideoTooLarge,
  withUpload,
  type StoredImage
} from '@tandem/media-kit'
import {
  clientSignal,
  Data,
  data,
  IdempotencyHeaders,
  longRequests,
  readIdempotencyKey,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { VideoQuotaExceeded } from '../errors.ts'
import { countImage, storeUpload } from './actions.ts'
import { Media } from './schemas.ts'
import { storeVideo } from './videos.ts'

export const mediaRoutes: Routes<Deps> = async (app, deps) => {
  const { videoMegabytes, videoSeconds } = readLimits()
  const takesVideos = isFeatureOn('video')
  await app.register(multipartUploads)

  app.post('/media', {
    bodyLimit: VIDEO_BODY_LIMIT,
    config: { longRequests },
    schema: {
      operationId: 'uploadMedia',
      summary: takesVideos
        ? 'Upload an image or a video for a post or a story'
        : 'Upload an image for a post or a story',
      description:
        'multipart/form-data with the field `file`. An image is JPEG, PNG or WebP, at most 5 MB and 40 million pixels, ' +
        'and is re-encoded without camera metadata. Images of one account: 500 MB a day.' + (takesVideos
          ? ` A video is MP4 or MOV with H.264, at most ${videoMegabytes} MB, ${videoSeconds} seconds and 1920 x 1080 ` +
            'pixels; its place, title and other tracks are dropped. It can have a second field, `poster`: the image to ' +
            'show until it plays. Videos of one account: 500 MB a day, three at once.'
          : ''),
      fileField: 'file',
      ...takesVideos && { optionalFileField: 'poster' },
      'x-extension': true,
      headers: IdempotencyHeaders,
      errors: [
        IdempotencyConflict,
        VideoTooLarge,
        ImageQuotaExceeded,
        VideoQuotaExceeded,
        ...Object.values(videoErrors)
      ],
      response: { 200: Data(Type.Object({ media: Media })) }
    }
  }, async (request, reply) => {
    const { account } = request
    const client = clientSignal(reply)
    return await withUpload(request, { maxVideoMegabytes: takesVideos ? videoMegabytes : 0 }, async (uploaded) => {
      if (uploaded.file.isVideo) {
        const idempotencyKey = readIdempotencyKey(request, uploaded.file.sha256)
        const stored = await storeVideo(deps, uploaded, {
          accountId: account.id,
          log: request.log,
          idempotencyKey,
          client
        })
        return toResponse(deps, { ...stored, mediaType: 'VIDEO' as const })
      }
      await countImage(deps, account.id, uploaded.file.bytes)
      const image = await reencodeImage(uploaded.file.path, uploaded.file.type, account.id, client)
      const stored = await storeUpload(deps, account.id, image, readIdempotencyKey(request, image.bytes))
      return toResponse(deps, { ...stored, mediaType: 'IMAGE' as const })
    })
  })
}

const toResponse = <Stored extends StoredImage>({ media }: Deps, stored: Stored) =>
  data({ media: { ...media.describe(stored.key, stored), ...stored } })
