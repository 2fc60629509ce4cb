import { THUMBNAIL_WIDTHS, type ThumbnailWidth } from '@tandem/http-kit'
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
const UNTYPED = 'application/octet-stream'
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

/**
 * Re-encodes an image that a client uploaded. The declared type must match the content. Accounts take
 * turns, one image at a time.
 * @param source the file's path, or its bytes
 * @throws UnsupportedImage, CorruptImage, TooManyPixels, DecodedImageTooLarge, TooManyImages
 */
export async function reencodeImage (source: string | Buffer, declaredType: string, accountId: string): Promise<Image> {
  return await enqueue(accountId, async () => {
    // sharp throws synchronously, as for a programming error, if the source is empty.
    if (source.length === 0) throw new UnsupportedImage()
    const sharp = await (loadedSharp ??= loadSharp())
    const image = sharp(source, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 })
    const { format, width, height, channels, depth } = await image.metadata().catch((error: unknown) =>
      throwImageError(error)
    )
    if (!MIME_TYPES[format]?.concat(UNTYPED).includes(declaredType.toLowerCase())) throw new UnsupportedImage()
    if (width * height * channels > (MAX_SAMPLES[depth] ?? 0)) throw new DecodedImageTooLarge()

    const { data: bytes, info } = await image
      .autoOrient()
      .resize({ width: MAX_SIDE_PIXELS, height: MAX_SIDE_PIXELS, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 82 })
      .toBuffer({ resolveWithObject: true })
      .catch((error: unknown) => throwImageError(error))
    return {
      bytes,
      mimeType: 'image/webp',
      width: info.width,
      height: info.height,
      ...await derive(sharp, bytes, info)
    }
  })
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
