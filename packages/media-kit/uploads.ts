import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FastifyError } from '@fastify/error'
import multipart, { type MultipartFile } from '@fastify/multipart'
import { clientSignal, ValidationError } from '@tandem/http-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { FileTooLarge, MalformedForm, NotAVideo, NotMultipart, VideoTooLarge } from './errors.ts'
import { createDiskLimit, isDiskError, Unavailable } from '@tandem/process-kit'
import { reencodeImage, UNTYPED, type Image } from './images.ts'
import { sweepStaleFiles } from './stale-files.ts'

const MEBIBYTE = 1024 * 1024
export const MAX_FILE_BYTES = 5 * MEBIBYTE
const MAX_FORM_OVERHEAD_BYTES = 64 * 1024

/** The `bodyLimit` of routes that take an image: the file and the form around it. */
export const UPLOAD_BODY_LIMIT = MAX_FILE_BYTES + MAX_FORM_OVERHEAD_BYTES
/** What a service can allow at most. */
const MAX_VIDEO_MEGABYTES = 500
/** The `bodyLimit` of routes that take a video: with its poster. `withUpload` limits each file. */
export const VIDEO_BODY_LIMIT = MAX_VIDEO_MEGABYTES * MEBIBYTE + UPLOAD_BODY_LIMIT

const TEMP_FILE_PREFIX = 'tandem-upload-'

/** Makes `app` parse multipart forms with files. */
export const multipartUploads = plugin(async (app: FastifyInstance) => {
  app.addHook('onClose', sweepStaleFiles(tmpdir(), TEMP_FILE_PREFIX))
  await app.register(multipart, {
    limits: { fileSize: MAX_FILE_BYTES, files: 1, fields: 5, parts: 6, fieldSize: 16 * 1024 },
    throwFileSizeLimit: false
  })
}, { name: 'uploads' })

/** The path of a new temporary file. A killed process leaves it behind; it is then swept. */
export const temporaryFile = () => path.join(tmpdir(), `${TEMP_FILE_PREFIX}${randomUUID()}`)

/**
 * Reads and re-encodes the image in the form field `field`. It is streamed to a temporary file, so that parallel
 * uploads take no memory while the disk keeps up. If the client disconnects, the image is not processed, unless a repeat waits for it.
 * @param accountId the uploader; images of one account are decoded one at a time
 * @throws ClientDisconnected, NotMultipart, ValidationError, MalformedForm, FileTooLarge, UnsupportedImage,
 * CorruptImage, TooManyPixels, DecodedImageTooLarge, TooManyImages, Unavailable
 */
export async function readImage (
  request: FastifyRequest,
  reply: FastifyReply,
  field: string,
  accountId: string
): Promise<Image> {
  const client = clientSignal(reply)
  if (!request.isMultipart()) throw new NotMultipart()
  const file = temporaryFile()
  try {
    const type = await saveFile(request, field, file)
    return await reencodeImage(file, type, accountId, client)
  } finally {
    await rm(file, { force: true })
  }
}

const fileMissing = (field: string) => new ValidationError('fileMissing', [field], { field })

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
      if (part.fieldname !== field) throw fileMissing(field)
      part.file.once('end', stopParsing).once('limit', () => part.file.destroy(new FileTooLarge()))
      // A slow disk must not delay the end of the part: the parser would go on meanwhile.
      await pipeline(part.file, createWriteStream(file, { highWaterMark: MAX_FILE_BYTES }))
      // If the limit was reached before there was a listener.
      if (part.file.truncated) throw new FileTooLarge()
      return part.mimetype
    }
    throw fileMissing(field)
  } catch (error) {
    throw toUploadError(error)
  } finally {
    stopParsing()
  }
}

/** A file of a form, which exists until the request is handled. */
export interface UploadedFile {
  path: string
  /** As the client declares it. */
  type: string
  isVideo: boolean
  bytes: number
  sha256: Buffer
}

export interface Uploaded {
  file: UploadedFile
  /** Only with a video. */
  poster: UploadedFile | undefined
}

// Of videos as long as the brand allows, 50 MB or more: 36 take 1.8 GiB.
const MAX_ON_DISK = 36
const MIN_LONGEST_MEGABYTES = 50
const beginUpload = createDiskLimit()

/**
 * Streams the image or video in the form field `file`, and the `poster` of a video, to temporary files, calls `work`, and
 * removes them. The poster may stand before or after the video. All together take at most as much of the disk as 36 of
 * the longest videos.
 * @throws NotMultipart, ValidationError, MalformedForm, FileTooLarge, VideoTooLarge, NotAVideo, Unavailable, and what `work`
 * throws
 */
export async function withUpload<Result> (
  request: FastifyRequest,
  { maxVideoMegabytes }: { maxVideoMegabytes: number },
  work: (uploaded: Uploaded) => Promise<Result>
): Promise<Result> {
  if (!request.isMultipart()) throw new NotMultipart()
  const files = { file: temporaryFile(), poster: temporaryFile() }
  const disk = beginUpload(MAX_ON_DISK * Math.max(maxVideoMegabytes, MIN_LONGEST_MEGABYTES) * MEBIBYTE)
  try {
    return await work(await saveFiles(request, files, { maxVideoMegabytes, count: disk.count }))
  } finally {
    await Promise.all(Object.values(files).map(async (file) => await rm(file, { force: true })))
    disk.free()
  }
}

interface Limits {
  maxVideoMegabytes: number
  count: (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}

/** The same as `saveFile`, of two files. After both, or after an image, nothing more is parsed. */
async function saveFiles (
  request: FastifyRequest,
  paths: { file: string, poster: string },
  { maxVideoMegabytes, count }: Limits
): Promise<Uploaded> {
  const stopParsing = () => request.raw.unpipe().resume()
  const saved: Partial<Uploaded> = {}
  try {
    // Each file has its own limit below. One more byte than the largest, so that the parser does not cut it off before.
    const largest = Math.max(maxVideoMegabytes * MEBIBYTE, MAX_FILE_BYTES)
    const limits = { fileSize: largest + 1, files: 2, parts: 7 }
    for await (const part of request.parts({ limits })) {
      if (part.type !== 'file') continue
      const field = part.fieldname
      if ((field !== 'file' && field !== 'poster') || saved[field]) throw fileMissing('file')
      const isLast = ({ isVideo }: { isVideo: boolean }) =>
        field === 'file' ? !isVideo || saved.poster !== undefined : saved.file !== undefined
      const upload = receive(part, { count, maxVideoMegabytes: field === 'poster' ? 0 : maxVideoMegabytes })
      part.file.once('end', () => isLast(upload.file) && stopParsing())
      saved[field] = await upload.saveTo(paths[field])
      if (isLast(upload.file)) break
    }
    if (!saved.file) throw fileMissing('file')
    return { file: saved.file, poster: saved.poster }
  } catch (error) {
    throw toUploadError(error)
  } finally {
    stopParsing()
  }
}

const VIDEO_BUFFER_BYTES = 256 * 1024
/** The types of videos that clients send. */
export const VIDEO_TYPES = ['video/mp4', 'video/quicktime']

/** With 0 megabytes it must be an image. */
function receive (part: MultipartFile, { maxVideoMegabytes, count }: Limits) {
  const type = part.mimetype.toLowerCase()
  const hash = createHash('sha256')
  const file = { type, isVideo: type.startsWith('video/') && maxVideoMegabytes > 0, bytes: 0 }
  if (file.isVideo && !VIDEO_TYPES.includes(type)) throw new NotAVideo()

  async function* check (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      if (file.bytes === 0 && type === UNTYPED && maxVideoMegabytes > 0) file.isVideo = isBoxes(chunk)
      file.bytes += chunk.length
      hash.update(chunk)
      if (file.isVideo && file.bytes > maxVideoMegabytes * MEBIBYTE) {
        throw new VideoTooLarge({ megabytes: maxVideoMegabytes })
      }
      if (!file.isVideo && file.bytes > MAX_FILE_BYTES) throw new FileTooLarge()
      yield chunk
    }
  }
  return {
    file,
    async saveTo (path: string): Promise<UploadedFile> {
      // For images as in `saveFile`. Twenty videos at once would hold 100 MiB.
      const highWaterMark = type.startsWith('image/') ? MAX_FILE_BYTES : VIDEO_BUFFER_BYTES
      await pipeline(part.file, check, count, createWriteStream(path, { highWaterMark }))
      return { ...file, path, sha256: hash.digest() }
    }
  }
}

/** Whether a file begins as MP4 and MOV files do. */
const isBoxes = (start: Buffer) => start.toString('latin1', 4, 8) === 'ftyp'

function toUploadError (error: unknown) {
  // The form parser's own limits, too.
  if (error instanceof FastifyError) return error
  // The form parser's other errors have no code, or Node's code of a stream.
  return isDiskError(error) ? new Unavailable({ cause: error }) : new MalformedForm({ cause: error })
}
