import sharp from 'sharp'
import { CorruptImage, DecodedImageTooLarge, UnsupportedImage, TooManyPixels } from './errors.ts'
import { createFairQueue } from './fair-queue.ts'

// Photo pickers of iOS say `image/jpg`, which is no registered type.
const MIME_TYPES: Record<string, string[]> = { jpeg: ['image/jpeg', 'image/jpg'], png: ['image/png'], webp: ['image/webp'] }
// Says nothing of what it is: so do Dart's forms, unless the app sees to it.
const UNTYPED = 'application/octet-stream'
const LONGEST_SIDE = 1_600
const MOST_PIXELS = 40_000_000
// By the size of a sample, which only PNG has more than one of. What has to be turned upright is held whole, two images at a time, in a
// process of 512 MiB: 40 million pixels of 8-bit RGB, or 10 million of 16-bit RGBA, which take as long.
const MOST_SAMPLES: Record<string, number> = { uchar: 120_000_000, ushort: 40_000_000 }

// libvips reads dozens of formats, and each is a way to attack it: only these three stay open.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['Jpeg', 'Png', 'Webp'].flatMap((format) => [`VipsForeignLoad${format}File`, `VipsForeignLoad${format}Buffer`]) })
// Memory that libvips keeps is no use to images that are never seen again.
sharp.cache(false)
sharp.concurrency(1)

// What waits is held on disk. Six is what the screens that ask for photos send at once.
const queue = createFairQueue({ concurrency: 2, maxWaiting: 64, maxWaitingPerAccount: 6 })

/** An image ready to be stored and shown: WebP, at most 1,600 pixels a side, the right way up, with nothing in it but the picture. */
export interface Image { bytes: Buffer, mimeType: string, width: number, height: number }

/**
 * Makes an image anew from what a client sent. What the file claims to be is compared with what it is. Accounts take turns.
 * @param source a file's path, or its bytes
 * @throws NotAnImage, DamagedImage, TooManyPixels, DecodedTooLarge, TooManyImages
 */
export async function reencodeImage (source: string | Buffer, declaredType: string, accountId: string): Promise<Image> {
  return await queue(accountId, async () => {
    // sharp throws at once, as of a mistake in the program, when there is nothing to read.
    if (source.length === 0) throw new UnsupportedImage()
    const image = sharp(source, { limitInputPixels: MOST_PIXELS, failOn: 'error', pages: 1 })
    const { format, width, height, channels, depth } = await image.metadata().catch((error: unknown) => refuse(error))
    if (!MIME_TYPES[format]?.concat(UNTYPED).includes(declaredType.toLowerCase())) throw new UnsupportedImage()
    if (width * height * channels > (MOST_SAMPLES[depth] ?? 0)) throw new DecodedImageTooLarge()

    const { data: bytes, info } = await image
      .autoOrient()
      .resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 82 })
      .toBuffer({ resolveWithObject: true })
      .catch((error: unknown) => refuse(error))
    return { bytes, mimeType: 'image/webp', width: info.width, height: info.height }
  })
}

function refuse (error: unknown): never {
  const text = String(error)
  if (/pixel limit/i.test(text)) throw new TooManyPixels()
  if (/unsupported image format|unable to open|operation is blocked/i.test(text)) throw new UnsupportedImage()
  throw new CorruptImage()
}
