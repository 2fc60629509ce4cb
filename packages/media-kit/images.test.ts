import sharp from 'sharp'
import t from 'tap'
import { CorruptImage, UnsupportedImage, reencodeImage as remake, TooManyPixels } from './index.ts'
import { createPng } from './testing.ts'

const remakeImage = async (source: Buffer, type: string) => await remake(source, type, 'ana')
const picture = (width = 64, height = 48) => sharp({ create: { width, height, channels: 3, background: '#2a6' } })
const refused = async (work: Promise<unknown>) => await work.then(() => undefined, (error: Error) => error.constructor)

t.test('the three kinds become WebP, at most 1,600 pixels a side, and never larger than they were', async (t) => {
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    const large = await remakeImage(await picture(2_000, 500).toFormat(format).toBuffer(), `image/${format}`)
    t.match(large, { mimeType: 'image/webp', width: 1_600, height: 400 }, format)
    t.equal((await sharp(large.bytes).metadata()).format, 'webp')
    t.match(await remakeImage(await picture(30, 20).toFormat(format).toBuffer(), `IMAGE/${format}`), { width: 30, height: 20 }, 'however the type is written')
  }
  t.match(await remakeImage(await picture().jpeg().toBuffer(), 'image/jpg'), { mimeType: 'image/webp' }, 'also with the type that photo pickers make up')
  t.match(await remakeImage(await picture().jpeg().toBuffer(), 'application/octet-stream'), { mimeType: 'image/webp' }, 'also without a type')
})

t.test('of where, when and with what a picture was taken nothing stays', async (t) => {
  const taken = await picture(64, 48)
    .withExif({ IFD0: { Make: 'SecretCamera' }, IFD3: { GPSLatitudeRef: 'S', GPSLatitude: '6/1 12/1 0/1', GPSLongitudeRef: 'E', GPSLongitude: '106/1 49/1 0/1' } })
    .withMetadata({ orientation: 6 }).withIccProfile('p3').withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><where>home</where></x:xmpmeta>')
    .jpeg().toBuffer()
  t.match(taken.toString('latin1'), /SecretCamera/)
  const { bytes, width, height } = await remakeImage(taken, 'image/jpeg')
  const { exif, icc, xmp, iptc, orientation, comments } = await sharp(bytes).metadata()
  t.same([exif, icc, xmp, iptc, orientation, comments], Array(6).fill(undefined))
  t.notOk(/SecretCamera|GPS|EXIF|ICCP|XMP|home/.test(bytes.toString('latin1')))
  t.same([width, height], [48, 64], 'what was to be turned has been')
  t.notOk((await remakeImage(createPng(), 'image/png')).bytes.includes('taken at home'))
})

t.test('what it says it is does not count, only what it is', async (t) => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script/></svg>')
  t.equal(await refused(remakeImage(createPng(), 'image/jpeg')), UnsupportedImage)
  t.equal(await refused(remakeImage(createPng(), 'image/jpg')), UnsupportedImage)
  t.equal(await refused(remakeImage(createPng(), 'image/svg+xml')), UnsupportedImage)
  t.equal(await refused(remakeImage(createPng(), '__proto__')), UnsupportedImage)
  t.equal(await refused(remakeImage(createPng(), 'constructor')), UnsupportedImage)
  for (const type of ['image/svg+xml', 'image/png', 'image/jpeg', 'application/octet-stream']) t.equal(await refused(remakeImage(svg, type)), UnsupportedImage)
  t.equal(await refused(remakeImage(Buffer.from('<html><script>alert(1)</script>'), 'image/jpeg')), UnsupportedImage)
  t.equal(await refused(remakeImage(Buffer.from('%PDF-1.7'), 'image/png')), UnsupportedImage)
  t.equal(await refused(remakeImage(Buffer.alloc(0), 'image/png')), UnsupportedImage)
  const other = { gif: picture().gif(), tiff: picture().tiff(), avif: picture().avif() }
  for (const [type, image] of Object.entries(other)) {
    const bytes = await image.toBuffer()
    t.equal(await refused(remakeImage(bytes, `image/${type}`)), UnsupportedImage, type)
    t.equal(await refused(remakeImage(bytes, 'image/jpeg')), UnsupportedImage, `${type} as another`)
  }
})

t.test('a picture that ends early, or breaks off within, is damaged', async (t) => {
  const noise = sharp({ create: { width: 300, height: 300, channels: 3, noise: { type: 'gaussian', mean: 128, sigma: 60 }, background: '#000' } })
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    const whole = await noise.clone().toFormat(format).toBuffer()
    t.equal(await refused(remakeImage(whole.subarray(0, whole.length * 0.6), `image/${format}`)), CorruptImage, format)
    const scratched = Buffer.from(whole)
    const middle = whole.length >> 1
    scratched.fill(0xff, middle, middle + 64)
    const outcome = await remakeImage(scratched, `image/${format}`).catch((error: Error) => error.constructor)
    t.ok(outcome === CorruptImage || typeof outcome === 'object', format)
  }
  t.equal(await refused(remakeImage(createPng().subarray(0, 20), 'image/png')), CorruptImage)
})

t.test('one that would unpack to too much is refused before it is unpacked', async (t) => {
  const bomb = createPng(16_000, 16_000)
  t.ok(bomb.length < 1_000_000)
  const [since, before] = [performance.now(), process.memoryUsage.rss()]
  t.equal(await refused(remakeImage(bomb, 'image/png')), TooManyPixels)
  t.ok(performance.now() - since < 100)
  t.ok(process.memoryUsage.rss() - before < 20_000_000)
  t.equal(await refused(remakeImage(createPng(8_000, 5_001), 'image/png')), TooManyPixels)
  t.match(await remakeImage(createPng(8_000, 5_000), 'image/png'), { width: 1_600, height: 1_000 }, 'forty million pixels are not')
})

t.test('odd forms come out right', async (t) => {
  t.match(await remakeImage(createPng(1, 1), 'image/png'), { width: 1, height: 1 })
  t.match(await remakeImage(createPng(20_000, 1), 'image/png'), { width: 1_600, height: 1 })
  t.match(await remakeImage(await picture().toColourspace('cmyk').jpeg().toBuffer(), 'image/jpeg'), { width: 64, height: 48 })
  const clear = await remakeImage(await sharp({ create: { width: 4, height: 4, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } }).png().toBuffer(), 'image/png')
  t.equal((await sharp(clear.bytes).metadata()).hasAlpha, true)
})
