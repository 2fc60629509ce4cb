import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import { bearer, testServer } from '@tandem/http-kit/testing'
import t, { type Test } from 'tap'
import type { Image } from './images.ts'
import { createForm, createPng, pngChunk } from './testing.ts'
import { multipartUploads, readImage, UPLOAD_BODY_LIMIT } from './uploads.ts'

const tempFolder = tmpdir()
const [ana, mallory] = [crypto.randomUUID(), crypto.randomUUID()]
// Expensive images, each of other bytes: decoders ignore what follows the end.
const large = (variant: number) => Buffer.concat([createPng(6_000, 6_000), Buffer.from([variant])])

/** Creates a PNG of 6,300 by 6,300 black pixels with one bit each: five kilobytes. */
function createOneBitPng (variant: number) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(6_300, 0)
  header.writeUInt32BE(6_300, 4)
  header[8] = 1
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.alloc((1 + Math.ceil(6_300 / 8)) * 6_300), { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
    Buffer.from([variant])
  ])
}

async function until (isTrue: () => boolean | Promise<boolean>) {
  while (!await isTrue()) await sleep(5)
}

async function startServer (t: Test) {
  const folder = await mkdtemp(path.join(tempFolder, 'tandem-uploads-'))
  process.env['TMPDIR'] = folder
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const processed: { accountId: string, image: Image }[] = []
  const app = await testServer(t, async (app) => {
    await app.register(multipartUploads)
    app.post('/photos', { bodyLimit: UPLOAD_BODY_LIMIT }, async (request, reply) => {
      const image = await readImage(request, reply, 'file', request.account.id)
      processed.push({ accountId: request.account.id, image })
      return { width: image.width }
    })
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const start = (accountId: string, picture: Buffer) => {
    const { headers, payload } = createForm(picture)
    const sending = request(`${address}/photos`, { method: 'POST', headers: { ...headers, ...bearer(accountId) } })
    sending.end(payload)
    return sending
  }
  const upload = async (accountId: string, picture: Buffer) => {
    const [response] = await once(start(accountId, picture), 'response')
    response.resume()
    return response.statusCode as number
  }
  const countFiles = async () => (await readdir(folder)).length
  return { start, upload, processed, countFiles }
}

t.test('an image whose client has left is not processed, and its account can upload again', async (t) => {
  const { start, upload, processed, countFiles } = await startServer(t)
  const abandoned = Array.from({ length: 7 }, (_, index) => start(mallory, large(index)).on('error', () => {}))
  await until(async () => await countFiles() === 7)
  for (const each of abandoned) each.destroy()
  t.same(await Promise.all(Array.from({ length: 3 }, (_, index) => upload(mallory, createPng(100 + index, 9)))), [
    200,
    200,
    200
  ])
  await until(async () => await countFiles() === 0)
  t.same(processed.map(({ image }) => image.width).sort((one, other) => one - other), [100, 101, 102])
})

t.test('an account that uploads the same image many times at once has it processed once', async (t) => {
  const { start, upload, processed, countFiles } = await startServer(t)
  const picture = large(100)
  const left = start(ana, picture).on('error', () => {})
  await until(async () => await countFiles() === 1)
  const repeats = Array.from({ length: 20 }, () => upload(ana, picture))
  await until(async () => await countFiles() === 21)
  left.destroy()
  t.same(await Promise.all(repeats), Array(20).fill(200), 'although the first client left')
  t.equal(processed.length, 20)
  t.equal(new Set(processed.map(({ image }) => image)).size, 1)
  t.equal(await upload(mallory, picture), 200)
  t.equal(new Set(processed.map(({ image }) => image)).size, 2, 'another account does not share it')
})

t.test('five accounts that upload 35 images of 40 million pixels do not keep another from uploading', async (t) => {
  const { start, upload, processed, countFiles } = await startServer(t)
  const accounts = Array.from({ length: 5 }, () => crypto.randomUUID())
  const flood = accounts.flatMap((account) =>
    Array.from({ length: 7 }, (_, index) => start(account, createOneBitPng(index)).on('error', () => {}))
  )
  await until(async () => await countFiles() >= 30)
  t.equal(await upload(ana, createPng(50, 50)), 200)
  t.ok(processed.length <= 10, `served after ${processed.length - 1} of 35`)
  for (const each of flood) each.destroy()
  await until(async () => await countFiles() === 0)
  t.ok(processed.length <= 12, 'those that wait leave with their clients')
})
