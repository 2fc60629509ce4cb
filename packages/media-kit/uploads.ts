import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FastifyError } from '@fastify/error'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { MalformedForm, FileTooLarge, FileMissing, NotMultipart, StorageUnavailable } from './errors.ts'
import { reencodeImage, type Image } from './images.ts'
import { sweepStaleFiles } from './stale-files.ts'

export const MAX_FILE_BYTES = 5 * 1024 * 1024
const FORM_AROUND_FILE = 64 * 1024

/** What a route with an upload adds to its options: the body limit that the file fits in. */
export const UPLOAD_BODY_LIMIT = MAX_FILE_BYTES + FORM_AROUND_FILE

const UNFINISHED = 'tandem-upload-'

/** Teaches `app` to read multipart forms with one file. */
export const multipartUploads = plugin(async (app: FastifyInstance) => {
  app.addHook('onClose', sweepStaleFiles(tmpdir(), UNFINISHED))
  await app.register(multipart, { limits: { fileSize: MAX_FILE_BYTES, files: 1, fields: 5, parts: 6, fieldSize: 16 * 1024 }, throwFileSizeLimit: false })
}, { name: 'uploads' })

/**
 * Reads the image in the form's field `field`. It is streamed to a temporary file, so that many uploads at once take no memory.
 * @param accountId who sends it; one account's images are decoded one at a time
 * @throws NotAForm, NoFile, DamagedForm, FileTooLarge, NotAnImage, DamagedImage, TooManyPixels, DecodedTooLarge, TooManyImages, StorageAway
 */
export async function readImage (request: FastifyRequest, field: string, accountId: string): Promise<Image> {
  if (!request.isMultipart()) throw new NotMultipart()
  const file = path.join(tmpdir(), `${UNFINISHED}${randomUUID()}`)
  try {
    const type = await saveFile(request, field, file)
    return await reencodeImage(file, type, accountId)
  } finally {
    await rm(file, { force: true })
  }
}

/** Writes the form's file to `file`; returns the type that it claims. */
async function saveFile (request: FastifyRequest, field: string, file: string) {
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue
      if (part.fieldname !== field) {
        part.file.resume()
        continue
      }
      await pipeline(part.file, createWriteStream(file))
      if (part.file.truncated) throw new FileTooLarge()
      return part.mimetype
    }
    throw new FileMissing(field)
  } catch (error) {
    throw blame(error)
  }
}

/** Whether the form was at fault or this machine. What the parser of forms throws has no code, or Node's code of a stream. */
function blame (error: unknown) {
  if (error instanceof FastifyError) return error
  const { code = '' } = error as NodeJS.ErrnoException
  return ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'EIO', 'EMFILE', 'ENFILE'].includes(code) ? new StorageUnavailable({ cause: error }) : new MalformedForm({ cause: error })
}
