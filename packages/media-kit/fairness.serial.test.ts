// Runs alone, because it measures response times.
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import t from 'tap'
import { DecodedImageTooLarge, reencodeImage, TooManyImages } from './index.ts'
import { createPng } from './testing.ts'

const settled = async (works: Promise<unknown>[]) =>
  (await Promise.allSettled(works))
    .map((result) => result.status === 'fulfilled' ? 'done' : (result.reason as Error).constructor)

t.test('one account cannot block the images of others', async (t) => {
  const picture = await sharp({ create: { width: 800, height: 600, channels: 3, background: '#2a6' } }).jpeg()
    .toBuffer()
  const timeOne = async () => {
    const since = performance.now()
    await reencodeImage(picture, 'image/jpeg', 'ben')
    return performance.now() - since
  }
  await timeOne()
  const baseline = Math.max(await timeOne(), await timeOne(), await timeOne())

  // Decoders ignore what follows the end of an image. The same image twenty times would be processed once.
  const heavy = createPng(8_000, 5_000)
  const flood = settled(
    Array.from(
      { length: 20 },
      (_, index) => reencodeImage(Buffer.concat([heavy, Buffer.from([index])]), 'image/png', 'mallory')
    )
  )
  await sleep(50)
  for (let turn = 0; turn < 3; turn++) {
    const took = await timeOne()
    // The flood takes at most one of two slots.
    t.ok(took < 3 * baseline + 50, `${took.toFixed()} ms under the flood, ${baseline.toFixed()} ms before it`)
  }
  const outcomes = await flood
  t.equal(outcomes.filter((outcome) => outcome === 'done').length, 7, 'one running and six waiting')
  t.equal(outcomes.filter((outcome) => outcome === TooManyImages).length, 13)
})

t.test('an image that is too large when decoded is rejected, however few its pixels or bytes', async (t) => {
  const ofDepth = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 4, background: { r: 1, g: 2, b: 3, alpha: 0.5 } } })
      .toColourspace('rgb16').withMetadata({ orientation: 6 }).png({ compressionLevel: 9 }).toBuffer()
  const large = await ofDepth(6_300, 6_300)
  t.ok(large.length < 1_000_000)
  const since = performance.now()
  await t.rejects(reencodeImage(large, 'image/png', 'mallory'), new DecodedImageTooLarge())
  t.ok(performance.now() - since < 200, 'before it is decoded')
  t.match(
    await reencodeImage(await ofDepth(1_000, 500), 'image/png', 'ana'),
    { width: 500, height: 1_000 },
    'a small one of the same depth is accepted'
  )
})
