import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FastifyError } from '@fastify/error'
import multipart from '@fastify/multipart'
import { clientSignal } from '@tandem/http-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { MalformedForm, FileTooLarge, FileMissing, NotMultipart } from './errors.ts'
import { Unavailable } from '@tandem/process-kit'
import { reencodeImage, type Image } from './images.ts'
import { sweepStaleFiles } from './stale-files.ts'

export const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_FORM_OVERHEAD_BYTES = 64 * 1024

/** The `bodyLimit` of routes that take an upload: the file and the form around it. */
export const UPLOAD_BODY_LIMIT = MAX_FILE_BYTES + MAX_FORM_OVERHEAD_BYTES

const TEMP_FILE_PREFIX = 'tandem-upload-'

/** Makes `app` parse multipart forms with one file. */
export const multipartUploads = plugin(async (app: FastifyInstance) => {
  app.addHook('onClose', sweepStaleFiles(tmpdir(), TEMP_FILE_PREFIX))
  await app.register(multipart, {
    limits: { fileSize: MAX_FILE_BYTES, files: 1, fields: 5, parts: 6, fieldSize: 16 * 1024 },
    throwFileSizeLimit: false
  })
}, { name: 'uploads' })

/**
 * Reads and re-encodes the image in the form field `field`. It is streamed to a temporary file, so that parallel
 * uploads take no memory while the disk keeps up. If the client disconnects, the image is not processed, unless a repeat waits for it.
 * @param accountId the uploader; images of one account are decoded one at a time
 * @throws ClientDisconnected, NotMultipart, FileMissing, MalformedForm, FileTooLarge, UnsupportedImage, CorruptImage, TooManyPixels,
 * DecodedImageTooLarge, TooManyImages, Unavailable
 */
export async function readImage (
  request: FastifyRequest,
  reply: FastifyReply,
  field: string,
  accountId: string
): Promise<Image> {
  const client = clientSignal(reply)
  if (!request.isMultipart()) throw new NotMultipart()
  const file = path.join(tmpdir(), `${TEMP_FILE_PREFIX}${randomUUID()}`)
  try {
    const type = await saveFile(request, field, file)
    return await reencodeImage(file, type, accountId, client)
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * Writes the uploaded file to `file`. Returns its declared type. Parses the form up to the end of its first file and no
 * further: 400,000 empty parts, which fit into an upload, take the only thread for two seconds. The rest of the body is
 * read without parsing it, so that the client can send it and read the response.
 */
async function saveFile (request: FastifyRequest, field: string, file: string) {
  const stopParsing = () => request.raw.unpipe().resume()
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue
      if (part.fieldname !== field) throw new FileMissing(field)
      part.file.once('end', stopParsing).once('limit', () => part.file.destroy(new FileTooLarge()))
      // A slow disk must not delay the end of the part: the parser would go on meanwhile.
      await pipeline(part.file, createWriteStream(file, { highWaterMark: MAX_FILE_BYTES }))
      // If the limit was reached before there was a listener.
      if (part.file.truncated) throw new FileTooLarge()
      return part.mimetype
    }
    throw new FileMissing(field)
  } catch (error) {
    throw toUploadError(error)
  } finally {
    stopParsing()
  }
}

// A full or broken disk, as opposed to a malformed form. The form parser's errors have no code, or Node's code of a
// stream.
const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'EIO', 'EMFILE', 'ENFILE']

function toUploadError (error: unknown) {
  if (error instanceof FastifyError) return error
  const { code = '' } = error as NodeJS.ErrnoException
  return DISK_ERRORS.includes(code) ? new Unavailable({ cause: error }) : new MalformedForm({ cause: error })
}
