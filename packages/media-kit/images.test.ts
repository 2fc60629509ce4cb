import { isBlurhashValid } from 'blurhash'
import sharp from 'sharp'
import t from 'tap'
import { CorruptImage, UnsupportedImage, reencodeImage as reencode, TooManyPixels } from './index.ts'
import { createPng } from './testing.ts'

const reencodeImage = async (source: Buffer, type: string) => await reencode(source, type, 'ana')
const picture = (width = 64, height = 48) => sharp({ create: { width, height, channels: 3, background: '#2a6' } })
const errorOf = async (work: Promise<unknown>) => await work.then(() => undefined, (error: Error) => error.constructor)

t.test('all three formats become WebP, at most 1,600 pixels a side and never enlarged', async (t) => {
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    const large = await reencodeImage(await picture(2_000, 500).toFormat(format).toBuffer(), `image/${format}`)
    t.match(large, { mimeType: 'image/webp', width: 1_600, height: 400 }, format)
    t.equal((await sharp(large.bytes).metadata()).format, 'webp')
    t.match(await reencodeImage(await picture(30, 20).toFormat(format).toBuffer(), `IMAGE/${format}`), {
      width: 30,
      height: 20
    }, 'in any letter case')
  }
  t.match(
    await reencodeImage(await picture().jpeg().toBuffer(), 'image/jpg'),
    { mimeType: 'image/webp' },
    'also with the unregistered type of photo pickers'
  )
  t.match(await reencodeImage(await picture().jpeg().toBuffer(), 'application/octet-stream'), {
    mimeType: 'image/webp'
  }, 'also without a type')
})

t.test('an image has thumbnails narrower than itself, and a blurhash', async (t) => {
  const { thumbnails, blurhash } = await reencodeImage(await picture(900, 300).jpeg().toBuffer(), 'image/jpeg')
  t.same(thumbnails.map(({ width }) => width), [160, 320, 640])
  for (const { width, bytes } of thumbnails) {
    t.match(await sharp(bytes).metadata(), { format: 'webp', width, height: Math.round(width / 3) })
  }
  t.ok(isBlurhashValid(blurhash).result)
  const tiny = await reencodeImage(await picture(1, 1).png().toBuffer(), 'image/png')
  t.same(tiny.thumbnails, [])
  t.ok(isBlurhashValid(tiny.blurhash).result)
})

t.test('all metadata is removed', async (t) => {
  const taken = await picture(64, 48)
    .withExif({
      IFD0: { Make: 'SecretCamera' },
      IFD3: { GPSLatitudeRef: 'S', GPSLatitude: '6/1 12/1 0/1', GPSLongitudeRef: 'E', GPSLongitude: '106/1 49/1 0/1' }
    })
    .withMetadata({ orientation: 6 }).withIccProfile('p3').withXmp(
      '<x:xmpmeta xmlns:x="adobe:ns:meta/"><where>home</where></x:xmpmeta>'
    )
    .jpeg().toBuffer()
  t.match(taken.toString('latin1'), /SecretCamera/)
  const { bytes, width, height } = await reencodeImage(taken, 'image/jpeg')
  const { exif, icc, xmp, iptc, orientation, comments } = await sharp(bytes).metadata()
  t.same([exif, icc, xmp, iptc, orientation, comments], Array(6).fill(undefined))
  t.notOk(/SecretCamera|GPS|EXIF|ICCP|XMP|home/.test(bytes.toString('latin1')))
  t.same([width, height], [48, 64], 'the rotation was applied')
  t.notOk((await reencodeImage(createPng(), 'image/png')).bytes.includes('taken at home'))
})

t.test('the declared type must match the content', async (t) => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script/></svg>')
  t.equal(await errorOf(reencodeImage(createPng(), 'image/jpeg')), UnsupportedImage)
  t.equal(await errorOf(reencodeImage(createPng(), 'image/jpg')), UnsupportedImage)
  t.equal(await errorOf(reencodeImage(createPng(), 'image/svg+xml')), UnsupportedImage)
  t.equal(await errorOf(reencodeImage(createPng(), '__proto__')), UnsupportedImage)
  t.equal(await errorOf(reencodeImage(createPng(), 'constructor')), UnsupportedImage)
  for (const type of ['image/svg+xml', 'image/png', 'image/jpeg', 'application/octet-stream']) {
    t.equal(await errorOf(reencodeImage(svg, type)), UnsupportedImage)
  }
  t.equal(await errorOf(reencodeImage(Buffer.from('<html><script>alert(1)</script>'), 'image/jpeg')), UnsupportedImage)
  t.equal(await errorOf(reencodeImage(Buffer.from('%PDF-1.7'), 'image/png')), UnsupportedImage)
  t.equal(await errorOf(reencodeImage(Buffer.alloc(0), 'image/png')), UnsupportedImage)
  const other = { gif: picture().gif(), tiff: picture().tiff(), avif: picture().avif() }
  for (const [type, image] of Object.entries(other)) {
    const bytes = await image.toBuffer()
    t.equal(await errorOf(reencodeImage(bytes, `image/${type}`)), UnsupportedImage, type)
    t.equal(await errorOf(reencodeImage(bytes, 'image/jpeg')), UnsupportedImage, `${type} as another`)
  }
})

t.test('a truncated or scrambled image is corrupt', async (t) => {
  const noise = sharp({
    create: {
      width: 300,
      height: 300,
      channels: 3,
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
      background: '#000'
    }
  })
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    const whole = await noise.clone().toFormat(format).toBuffer()
    t.equal(
      await errorOf(reencodeImage(whole.subarray(0, whole.length * 0.6), `image/${format}`)),
      CorruptImage,
      format
    )
    const scratched = Buffer.from(whole)
    const middle = whole.length >> 1
    scratched.fill(0xff, middle, middle + 64)
    const outcome = await reencodeImage(scratched, `image/${format}`).catch((error: Error) => error.constructor)
    t.ok(outcome === CorruptImage || typeof outcome === 'object', format)
  }
  t.equal(await errorOf(reencodeImage(createPng().subarray(0, 20), 'image/png')), CorruptImage)
})

t.test('a decompression bomb is rejected before it is decoded', async (t) => {
  const bomb = createPng(16_000, 16_000)
  t.ok(bomb.length < 1_000_000)
  const [cpu, before] = [process.cpuUsage(), process.memoryUsage.rss()]
  t.equal(await errorOf(reencodeImage(bomb, 'image/png')), TooManyPixels)
  t.ok(process.cpuUsage(cpu).user < 100_000, 'of 100 ms')
  t.ok(process.memoryUsage.rss() - before < 20_000_000)
  t.equal(await errorOf(reencodeImage(createPng(8_000, 5_001), 'image/png')), TooManyPixels)
  t.match(
    await reencodeImage(createPng(8_000, 5_000), 'image/png'),
    { width: 1_600, height: 1_000 },
    'forty million pixels are accepted'
  )
})

t.test('unusual images are re-encoded correctly', async (t) => {
  t.match(await reencodeImage(createPng(1, 1), 'image/png'), { width: 1, height: 1 })
  t.match(await reencodeImage(createPng(20_000, 1), 'image/png'), { width: 1_600, height: 1 })
  t.match(await reencodeImage(await picture().toColourspace('cmyk').jpeg().toBuffer(), 'image/jpeg'), {
    width: 64,
    height: 48
  })
  const clear = await reencodeImage(
    await sharp({ create: { width: 4, height: 4, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } }).png()
      .toBuffer(),
    'image/png'
  )
  t.equal((await sharp(clear.bytes).metadata()).hasAlpha, true)
})
