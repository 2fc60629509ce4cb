import { readLimits } from '@tandem/brand-kit'
import { defineError, type ErrorParams } from '@tandem/process-kit'
import type { Readable } from 'node:stream'
import Type from 'typebox'
import { Data, data, Id, named, Timestamp, ValidationError, type Routes } from '@tandem/http-kit'
import { UPLOAD_BODY_LIMIT, VIDEO_TYPES, videoErrors, VideoTooLarge } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import {
  MediaGone,
  NotAPart,
  PosterUnknown,
  UploadBehind,
  UploadNotFound,
  UploadPartsTooSmall,
  UploadTooLong,
  VideoQuotaExceeded
} from '../errors.ts'
import { createDescriber, readStoredMedia } from './queries.ts'
import { Media } from './schemas.ts'
import { createUpload, deleteUpload, readUpload, processUpload, storePart } from './uploads.ts'

// The tus protocol, version 1.0.0 with the extensions creation, expiration and termination: https://tus.io. Its clients
// go on where a connection broke off.

const VERSION = '1.0.0'
const PART_TYPE = 'application/offset+octet-stream'
const MEBIBYTE = 1024 * 1024

const Upload = named(
  'MediaUpload',
  Type.Object({
    id: Type.String(),
    size: Type.Integer({ description: 'Bytes' }),
    offset: Type.Integer({ description: 'The bytes that have arrived' }),
    expiresAt: Timestamp
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e51',
      size: 20_000_000,
      offset: 5_000_000,
      expiresAt: '2026-11-21T06:30:00.000Z'
    }]
  })
)
const params = Type.Object({ id: Id })
const Count = Type.String({ pattern: '^\\d{1,10}$' })

type Row = Awaited<ReturnType<typeof readUpload>>
const toResponse = ({ id, bytes, receivedBytes, expiresAt }: Row) => ({
  upload: { id, size: bytes, offset: receivedBytes, expiresAt }
})

export const uploadRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  const { videoMegabytes } = readLimits()
  app.addContentTypeParser(PART_TYPE, (_request, payload, done) => done(null, payload))
  app.addHook('onRequest', async (_request, reply) => void reply.header('tus-resumable', VERSION))

  app.post('/media/uploads', {
    schema: {
      operationId: 'createMediaUpload',
      summary: 'Begin the upload of a video in parts',
      description:
        'The tus protocol 1.0.0, for networks that break off: `Upload-Length` is the size of the file, `Upload-Metadata` ' +
        'its `filetype`, video/mp4 or video/quicktime, and optionally `poster`, the `key` of an image that you have ' +
        'uploaded. Use a client of https://tus.io with parts of 1 to 5 MB; then ' +
        '`GET /media/uploads/:id` answers the video. An upload lasts for a day.',
      'x-extension': true,
      headers: Type.Object({
        'upload-length': Count,
        'upload-metadata': Type.Optional(Type.String({ maxLength: 2_000 }))
      }),
      errors: [PosterUnknown, VideoQuotaExceeded, VideoTooLarge],
      response: { 201: Data(Type.Object({ upload: Upload })) }
    }
  }, async ({ headers, account }, reply) => {
    const bytes = Number(headers['upload-length'])
    if (bytes > videoMegabytes * MEBIBYTE) throw new VideoTooLarge({ megabytes: videoMegabytes })
    if (bytes === 0) throw new ValidationError('fileIsEmpty')
    const metadata = readMetadata(headers['upload-metadata'] ?? '')
    const mimeType = metadata.get('filetype')?.toLowerCase() || 'video/mp4'
    if (!VIDEO_TYPES.includes(mimeType)) throw new videoErrors.NotAVideo()
    const upload = { mimeType, bytes, posterKey: metadata.get('poster') }
    const created = await createUpload(deps, account.id, upload)
    return await reply.code(201)
      .headers({ location: `uploads/${created.id}`, 'upload-expires': created.expiresAt.toUTCString() })
      .send(data(toResponse(created)))
  })

  app.head('/media/uploads/:id', { schema: { hide: true, params } }, async ({ params, account }, reply) => {
    const { bytes, receivedBytes } = await readUpload(db, { id: params.id, accountId: account.id })
    return await reply.headers({
      'cache-control': 'no-store',
      'upload-offset': receivedBytes,
      'upload-length': bytes
    }).send()
  })

  app.patch('/media/uploads/:id', {
    bodyLimit: UPLOAD_BODY_LIMIT,
    // Before a parser of another type refuses the bytes as broken.
    async onRequest ({ headers }) {
      if (headers['content-type'] !== PART_TYPE) throw new NotAPart({ type: PART_TYPE })
    },
    schema: {
      operationId: 'sendMediaPart',
      summary: 'Send the next part of a video',
      description: `The body has the type ${PART_TYPE} and begins at \`Upload-Offset\`.`,
      'x-extension': true,
      params,
      headers: Type.Object({ 'upload-offset': Count }),
      errors: [NotAPart, UploadNotFound, UploadBehind, UploadTooLong, UploadPartsTooSmall],
      response: { 204: Type.Null() }
    }
  }, async ({ params: { id }, headers, account, body, log }, reply) => {
    const offset = Number(headers['upload-offset'])
    const { receivedBytes, expiresAt } = await storePart(deps, {
      id,
      accountId: account.id,
      offset,
      chunks: body as Readable
    })
    // The client need not wait for it; what fails here, its question for the video starts again.
    processUpload(deps, id, log).catch((error: unknown) => log.warn({ err: error }, 'could not process an upload'))
    return await reply.code(204)
      .headers({ 'upload-offset': receivedBytes, 'upload-expires': expiresAt.toUTCString() }).send(null)
  })

  app.delete('/media/uploads/:id', {
    schema: {
      operationId: 'deleteMediaUpload',
      summary: 'End the upload of a video',
      description: 'A video that is already stored stays.',
      'x-extension': true,
      params,
      errors: [UploadNotFound],
      response: { 204: Type.Null() }
    }
  }, async ({ params, account }, reply) => {
    await deleteUpload(deps, { id: params.id, accountId: account.id })
    return await reply.code(204).send(null)
  })

  app.get('/media/uploads/:id', {
    exposeHeadRoute: false,
    schema: {
      operationId: 'getMediaUpload',
      summary: 'Get the video of an upload',
      description: '202 while parts are missing, or the video is being processed: ask again after `Retry-After`.',
      'x-extension': true,
      params,
      errors: [UploadNotFound, MediaGone, VideoQuotaExceeded, ...Object.values(videoErrors)],
      response: { 200: Data(Type.Object({ media: Media })), 202: Data(Type.Object({ upload: Upload })) }
    }
  }, async ({ params: { id }, account, log }, reply) => {
    const upload = await readUpload(db, { id, accountId: account.id })
    if (upload.problem) {
      const { textKey, statusCode, params } = upload.problem
      throw new (defineError<ErrorParams>(textKey, statusCode))(params)
    }
    if (upload.mediaKey === null) {
      processUpload(deps, id, log).catch((error: unknown) => log.warn({ err: error }, 'could not process an upload'))
      return await reply.code(202).header('retry-after', 1).send(data(toResponse(upload)))
    }
    const stored = await readStoredMedia(db, upload.mediaKey)
    const describe = await createDescriber(deps, [stored.key])
    return await reply.code(200).send(
      data({ media: { ...describe(stored.key, 'VIDEO'), ...stored, mediaType: 'VIDEO' as const } })
    )
  })
}

/** The metadata of tus: pairs of a name and a value in base64. */
function readMetadata (header: string) {
  const pairs = header.split(',').map((pair) => pair.trim().split(' '))
  return new Map(pairs.map(([name = '', value = '']) => [name, Buffer.from(value, 'base64').toString()]))
}
