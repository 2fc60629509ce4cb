// A separate server process for tests of memory and CPU: it sends its address, and its usage on request.
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import {
  createMedia,
  createMediaKey,
  diskStorage,
  multipartUploads,
  prepareVideo,
  readImage,
  temporaryFile,
  UPLOAD_BODY_LIMIT,
  VIDEO_BODY_LIMIT,
  withUpload
} from './index.ts'

const app = Fastify()
const media = createMedia({ storage: diskStorage(process.argv[2] ?? ''), cdnUrl: 'http://cdn.example.com' })
await app.register(multipartUploads)
app.post(
  '/',
  { bodyLimit: UPLOAD_BODY_LIMIT },
  async (request, reply) =>
    await media.store('public', await readImage(request, reply, 'file', crypto.randomUUID()), async () => {})
)
app.post(
  '/video',
  { bodyLimit: VIDEO_BODY_LIMIT },
  async (request) =>
    await withUpload(request, { maxVideoMegabytes: 50 }, async ({ file }) => {
      const target = temporaryFile()
      const accountId = crypto.randomUUID()
      const video = await prepareVideo(file.path, target, { accountId, maxSeconds: 60 })
      await media.storeVideo(createMediaKey('public', 'mp4'), target, undefined)
      await rm(target)
      return video
    })
)
app.get('/', async () => 'here')

process.on('message', async (question) => {
  if (question === 'cpu') {
    const { user, system } = process.cpuUsage()
    return void process.send?.({ answer: (user + system) / 1000 })
  }
  // Used memory after a garbage collection: the size of the process would depend on the collector and on malloc.
  globalThis.gc?.()
  // Buffers of collected objects are freed asynchronously, a moment later.
  await sleep(100)
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ answer: heapUsed + external })
})
process.on('disconnect', () => process.exit())
process.send?.({ address: await app.listen({ host: '127.0.0.1', port: 0 }) })
