// Runs alone, because it measures response times.
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import t from 'tap'
import { createFairQueue } from './fair-queue.ts'
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

  const heavy = createPng(8_000, 5_000)
  const flood = settled(Array.from({ length: 20 }, () => reencodeImage(heavy, 'image/png', 'mallory')))
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

/** Work that ends when the test opens it. */
function createGate () {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, work: async () => await opened }
}

t.test('accounts are served round-robin, however many jobs they have', async (t) => {
  const run = createFairQueue({ concurrency: 1, maxWaiting: 10, maxWaitingPerAccount: 5 })
  const order: string[] = []
  const first = createGate()
  const works = [run('ana', first.work)]
  for (const name of ['ana', 'ana', 'ana', 'ben', 'ben', 'cy']) {
    works.push(run(name, async () => {
      order.push(name)
    }))
  }
  first.open()
  await Promise.all(works)
  t.same(order, ['ana', 'ben', 'cy', 'ana', 'ben', 'ana'])
})

t.test('an account has one slot, even if others are free, and a failure frees it', async (t) => {
  const run = createFairQueue({ concurrency: 2, maxWaiting: 10, maxWaitingPerAccount: 5 })
  const [held, failing] = [createGate(), createGate()]
  let started = 0
  const count = async () => {
    started++
  }
  const works = [run('ana', held.work), run('ana', count)]
  await run('ben', count)
  t.equal(started, 1, 'no second job of ana')
  const fails = run('ben', async () => {
    await failing.work()
    throw new Error('damaged')
  })
  failing.open()
  await t.rejects(fails, { message: 'damaged' })
  await run('ben', count)
  held.open()
  await Promise.all(works)
  t.equal(started, 3)
})

t.test('waiting jobs are limited per account and in total', async (t) => {
  const run = createFairQueue({ concurrency: 1, maxWaiting: 4, maxWaitingPerAccount: 2 })
  const first = createGate()
  const works = ['ana', 'ana', 'ana', 'ana', 'ben', 'ben', 'cy'].map((name) => run(name, first.work))
  first.open()
  t.same(await settled(works), ['done', 'done', 'done', TooManyImages, 'done', 'done', TooManyImages])
  t.equal(await run('cy', async () => 'again'), 'again')
})
