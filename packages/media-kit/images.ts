import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { THUMBNAIL_WIDTHS, type ThumbnailWidth } from '@tandem/media-url-kit'
import { encode } from 'blurhash'
import { createFairQueue } from '@tandem/process-kit'
import { CorruptImage, DecodedImageTooLarge, TooManyImages, TooManyPixels, UnsupportedImage } from './errors.ts'

// iOS photo pickers send `image/jpg`, which is not a registered type.
const MIME_TYPES: Record<string, string[]> = {
  jpeg: ['image/jpeg', 'image/jpg'],
  png: ['image/png'],
  webp: ['image/webp']
}
// Dart's multipart requests send this type unless the app sets one.
export const UNTYPED = 'application/octet-stream'
const MAX_SIDE_PIXELS = 1_600
const MAX_PIXELS = 40_000_000
// By sample depth; only PNG has several depths. An image that must be rotated is held in memory as a whole, two images
// at a time, in a process of 512 MiB: 40 million pixels of 8-bit RGB, or 10 million of 16-bit RGBA, which take equally
// long.
const MAX_SAMPLES: Record<string, number> = { uchar: 120_000_000, ushort: 40_000_000 }

// Loaded with the first image: it takes 0.04 s of CPU and 28 MB, also in identity, which never reads one.
async function loadSharp () {
  const { default: sharp } = await import('sharp')
  // libvips reads dozens of formats, and each is an attack surface: only these three stay enabled.
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['Jpeg', 'Png', 'Webp'].flatMap((
      format
    ) => [`VipsForeignLoad${format}File`, `VipsForeignLoad${format}Buffer`])
  })
  // libvips' cache is useless here, because no image is read twice.
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}
type Sharp = Awaited<ReturnType<typeof loadSharp>>
let loadedSharp: Promise<Sharp> | undefined

// A blurhash describes 4 by 3 areas: more pixels do not change it.
const BLURHASH_SIDE_PIXELS = 32

// Waiting images are on disk. Six is the number that the photo screens upload at once.
const enqueue = createFairQueue({
  concurrency: 2,
  concurrencyPerOwner: 1,
  maxWaiting: 64,
  maxWaitingPerOwner: 6,
  createError: () => new TooManyImages()
})

/** A re-encoded image, ready to be stored and shown: WebP, at most 1,600 pixels a side, upright, without metadata. */
export interface Image {
  bytes: Buffer
  mimeType: string
  width: number
  height: number
  /** A placeholder of about 30 characters, which clients draw while the image loads: https://blurha.sh */
  blurhash: string
  thumbnails: Thumbnail[]
}

export interface Thumbnail {
  width: ThumbnailWidth
  bytes: Buffer
}

/** An image that waits or is being processed, for the clients that uploaded it. */
interface Job {
  image: Promise<Image>
  clients: number
  abandoned: AbortController
}

// By account and content.
const jobs = new Map<string, Job>()

/**
 * Re-encodes an image that a client uploaded. The declared type must match the content. Accounts take
 * turns, one image at a time. A repeat of an image that waits or is being processed gets the same result. An image that
 * no client waits for any more leaves the queue.
 * @param source the file's path, or its bytes
 * @param client aborted when the client disconnects; the result is then the signal's reason
 * @throws UnsupportedImage, CorruptImage, TooManyPixels, DecodedImageTooLarge, TooManyImages
 */
export async function reencodeImage (
  source: string | Buffer,
  declaredType: string,
  accountId: string,
  client = new AbortController().signal
): Promise<Image> {
  const type = declaredType.toLowerCase()
  const id = `${accountId} ${type} ${await digestOf(source)}`
  client.throwIfAborted()
  const job = jobs.get(id) ?? startJob(id, accountId, (abandoned) => processImage(source, type, abandoned))
  const leave = () => {
    job.clients--
    if (job.clients > 0) return
    // A client that comes now starts another job.
    if (jobs.get(id) === job) jobs.delete(id)
    job.abandoned.abort(client.reason)
  }
  job.clients++
  client.addEventListener('abort', leave)
  try {
    // A client that left waits as well, because the others may need its file.
    const image = await job.image
    client.throwIfAborted()
    return image
  } finally {
    client.removeEventListener('abort', leave)
  }
}

async function digestOf (source: string | Buffer) {
  const digest = createHash('sha256')
  await pipeline(typeof source === 'string' ? createReadStream(source) : [source], digest)
  return digest.digest('base64url')
}

function startJob (id: string, accountId: string, work: (abandoned: AbortSignal) => Promise<Image>) {
  const abandoned = new AbortController()
  const image = enqueue(accountId, async () => await work(abandoned.signal), abandoned.signal).finally(() => {
    if (jobs.get(id) === job) jobs.delete(id)
  })
  const job: Job = { image, clients: 0, abandoned }
  jobs.set(id, job)
  return job
}

async function processImage (source: string | Buffer, type: string, abandoned: AbortSignal): Promise<Image> {
  // sharp throws synchronously, as for a programming error, if the source is empty.
  if (source.length === 0) throw new UnsupportedImage()
  const sharp = await (loadedSharp ??= loadSharp())
  const image = sharp(source, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 })
  const { format, width, height, channels, depth } = await image.metadata().catch((error: unknown) =>
    throwImageError(error)
  )
  if (!MIME_TYPES[format]?.concat(UNTYPED).includes(type)) throw new UnsupportedImage()
  if (width * height * channels > (MAX_SAMPLES[depth] ?? 0)) throw new DecodedImageTooLarge()

  const { data: bytes, info } = await image
    .autoOrient()
    .resize({ width: MAX_SIDE_PIXELS, height: MAX_SIDE_PIXELS, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 82 })
    .toBuffer({ resolveWithObject: true })
    .catch((error: unknown) => throwImageError(error))
  abandoned.throwIfAborted()
  return {
    bytes,
    mimeType: 'image/webp',
    width: info.width,
    height: info.height,
    ...await derive(sharp, bytes, info)
  }
}

/** The height of the thumbnail with this width. */
export const thumbnailHeight = (image: { width: number, height: number }, width: number) =>
  Math.max(1, Math.round(image.height * width / image.width))

/**
 * The thumbnails and the blurhash of the image that was just encoded. Each is resized from the next larger one, because
 * decoding the whole image for each takes twice as long.
 */
async function derive (sharp: Sharp, bytes: Buffer, image: { width: number, height: number }) {
  let larger = sharp(bytes)
  const thumbnails: Thumbnail[] = []
  for (const width of THUMBNAIL_WIDTHS.filter((each) => each < image.width).reverse()) {
    const { data, info } = await larger.resize({ width, height: thumbnailHeight(image, width), fit: 'fill' }).raw()
      .toBuffer({ resolveWithObject: true })
    larger = sharp(data, { raw: info })
    thumbnails.unshift({ width, bytes: await larger.clone().webp({ quality: 78 }).toBuffer() })
  }
  const { data, info } = await larger.resize(BLURHASH_SIDE_PIXELS, BLURHASH_SIDE_PIXELS, { fit: 'inside' })
    .ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { thumbnails, blurhash: encode(new Uint8ClampedArray(data), info.width, info.height, 4, 3) }
}

function throwImageError (error: unknown): never {
  const text = String(error)
  if (/pixel limit/i.test(text)) throw new TooManyPixels()
  if (/unsupported image format|unable to open|operation is blocked/i.test(text)) throw new UnsupportedImage()
  throw new CorruptImage()
}
