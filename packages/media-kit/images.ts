import sharp from 'sharp'
import { CorruptImage, DecodedImageTooLarge, UnsupportedImage, TooManyPixels } from './errors.ts'
import { createFairQueue } from './fair-queue.ts'

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

// Waiting images are on disk. Six is the number that the photo screens upload at once.
const queue = createFairQueue({ concurrency: 2, maxWaiting: 64, maxWaitingPerAccount: 6 })

/** A re-encoded image, ready to be stored and shown: WebP, at most 1,600 pixels a side, upright, without metadata. */
export interface Image {
  bytes: Buffer
  mimeType: string
  width: number
  height: number
}

/**
 * Re-encodes an image that a client uploaded. The declared type must match the content. Accounts are scheduled
 * round-robin.
 * @param source the file's path, or its bytes
 * @throws NotAnImage, DamagedImage, TooManyPixels, DecodedTooLarge, TooManyImages
 */
export async function reencodeImage (source: string | Buffer, declaredType: string, accountId: string): Promise<Image> {
  return await queue(accountId, async () => {
    // sharp throws synchronously, as for a programming error, if the source is empty.
    if (source.length === 0) throw new UnsupportedImage()
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
    return { bytes, mimeType: 'image/webp', width: info.width, height: info.height }
  })
}

function throwImageError (error: unknown): never {
  const text = String(error)
  if (/pixel limit/i.test(text)) throw new TooManyPixels()
  if (/unsupported image format|unable to open|operation is blocked/i.test(text)) throw new UnsupportedImage()
  throw new CorruptImage()
}
