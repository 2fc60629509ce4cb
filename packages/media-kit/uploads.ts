import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
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
    limits: { files: 2, fields: 5, parts: 7, fieldSize: 16 * 1024 },
    throwFileSizeLimit: false
  })
}, { name: 'uploads' })

/** The path of a new temporary file. A killed process leaves it behind; it is then swept. */
export const temporaryFile = () => path.join(tmpdir(), `${TEMP_FILE_PREFIX}${randomUUID()}`)

/**
 * Opens a file for `write`, and returns or throws only once it is closed: a file that is still being opened would be there
 * after it is removed.
 */
export async function writeToFile (
  path: string,
  write: (target: WriteStream) => Promise<void>,
  options: { highWaterMark?: number } = {}
) {
  const target = createWriteStream(path, options)
  try {
    await write(target)
  } finally {
    await new Promise<void>((resolve) => target.closed ? resolve() : target.once('close', resolve))
  }
}

/**
 * Reads and re-encodes the image in the form field `field`, as `withUpload` does. If the client disconnects, the image is
 * not processed, unless a repeat waits for it.
 * @param accountId the uploader; images of one account are decoded one at a time
 * @throws ClientDisconnected, and the errors of withUpload and reencodeImage
 */
export async function readImage (
  request: FastifyRequest,
  reply: FastifyReply,
  field: string,
  accountId: string
): Promise<Image> {
  const client = clientSignal(reply)
  return await withUpload(
    request,
    { field, maxVideoMegabytes: 0 },
    async ({ file }) => await reencodeImage(file.path, file.type, accountId, client)
  )
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

interface UploadOptions {
  /** Of the image or video; by default `file`. */
  field?: string
  /** With 0, only images are taken, and no poster. */
  maxVideoMegabytes: number
}

// Of videos as long as the brand allows, 50 MB or more: 36 take 1.8 GiB.
const MAX_ON_DISK = 36
const MIN_LONGEST_MEGABYTES = 50
const limitDisk = createDiskLimit()

/**
 * For a file on its way to the disk of this process, where all uploads together take at most as much as 36 of the longest
 * videos. Call `free` once it is removed.
 */
export const beginUpload = (maxVideoMegabytes: number) =>
  limitDisk(MAX_ON_DISK * Math.max(maxVideoMegabytes, MIN_LONGEST_MEGABYTES) * MEBIBYTE)

/**
 * Streams the image or video of a form, and the `poster` of a video, to temporary files, so that parallel uploads take no
 * memory while the disk keeps up; calls `work`, and removes them. The poster may stand before or after the video.
 * @throws NotMultipart, ValidationError, MalformedForm, FileTooLarge, VideoTooLarge, NotAVideo, Unavailable, and what `work`
 * throws
 */
export async function withUpload<Result> (
  request: FastifyRequest,
  { field = 'file', maxVideoMegabytes }: UploadOptions,
  work: (uploaded: Uploaded) => Promise<Result>
): Promise<Result> {
  if (!request.isMultipart()) throw new NotMultipart()
  const paths = { file: temporaryFile(), poster: temporaryFile() }
  const disk = beginUpload(maxVideoMegabytes)
  try {
    return await work(await saveFiles(request, paths, { field, maxVideoMegabytes, count: disk.count }))
  } finally {
    await Promise.all(Object.values(paths).map(async (file) => await rm(file, { force: true })))
    disk.free()
  }
}

interface Limits {
  maxVideoMegabytes: number
  count: (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}

/**
 * Parses the form up to the end of its image, or of its video and poster, and no further: 400,000 empty parts, which fit
 * into an upload, take the only thread for two seconds. The rest of the body is read without parsing it, so that the
 * client can send it and read the response.
 */
async function saveFiles (
  request: FastifyRequest,
  paths: { file: string, poster: string },
  { field, maxVideoMegabytes, count }: Limits & { field: string }
): Promise<Uploaded> {
  const stopParsing = () => request.raw.unpipe().resume()
  const saved: Partial<Uploaded> = {}
  const fileMissing = () => new ValidationError('fileMissing', [field], { field })
  try {
    // Each file has its own limit below. One more byte than the largest, so that the parser does not cut it off before.
    const limits = { fileSize: Math.max(maxVideoMegabytes * MEBIBYTE, MAX_FILE_BYTES) + 1 }
    for await (const part of request.parts({ limits })) {
      if (part.type !== 'file') continue
      const isPoster = part.fieldname === 'poster' && maxVideoMegabytes > 0
      const name = isPoster ? 'poster' : 'file'
      if ((part.fieldname !== field && !isPoster) || saved[name]) throw fileMissing()
      const isLast = ({ isVideo }: { isVideo: boolean }) =>
        isPoster ? saved.file !== undefined : !isVideo || saved.poster !== undefined
      const upload = receive(part, { count, maxVideoMegabytes: isPoster ? 0 : maxVideoMegabytes })
      part.file.once('end', () => isLast(upload.file) && stopParsing())
      saved[name] = await upload.saveTo(paths[name])
      if (isLast(upload.file)) break
    }
    if (!saved.file) throw fileMissing()
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
    let start = Buffer.alloc(0)
    for await (const chunk of chunks) {
      if (type === UNTYPED && maxVideoMegabytes > 0 && start.length < BOX_HEADER_BYTES) {
        start = Buffer.concat([start, chunk.subarray(0, BOX_HEADER_BYTES)])
        file.isVideo = isBoxes(start)
      }
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
      // A slow disk must not delay the end of an image: the parser would go on meanwhile. Twenty videos at once would hold
      // 100 MiB.
      const highWaterMark = type.startsWith('image/') ? MAX_FILE_BYTES : VIDEO_BUFFER_BYTES
      await writeToFile(path, async (target) => await pipeline(part.file, check, count, target), { highWaterMark })
      return { ...file, path, sha256: hash.digest() }
    }
  }
}

const BOX_HEADER_BYTES = 8
/** Whether a file begins as MP4 and MOV files do. */
const isBoxes = (start: Buffer) => start.toString('latin1', 4, 8) === 'ftyp'

function toUploadError (error: unknown) {
  // The form parser's own limits, too.
  if (error instanceof FastifyError) return error
  // The form parser's other errors have no code, or Node's code of a stream.
  return isDiskError(error) ? new Unavailable({ cause: error }) : new MalformedForm({ cause: error })
}
