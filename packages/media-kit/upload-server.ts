// A server of its own for the test of memory: it says where it listens, and how much memory it holds when asked.
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { createMedia, diskStorage, readImage, UPLOAD_BODY_LIMIT, multipartUploads } from './index.ts'

const app = Fastify()
const media = createMedia({ storage: diskStorage(process.argv[2] ?? ''), cdnUrl: 'http://cdn.example.com' })
await app.register(multipartUploads)
app.post('/', { bodyLimit: UPLOAD_BODY_LIMIT }, async (request) => await media.store('public', await readImage(request, 'file', crypto.randomUUID())))

// What is in use, with what waits to be collected collected: a process's size would tell of the collector and of malloc instead.
process.on('message', async () => {
  globalThis.gc?.()
  // The buffers of what was collected are freed beside it, a moment later.
  await sleep(100)
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ held: heapUsed + external })
})
process.on('disconnect', () => process.exit())
process.send?.({ address: await app.listen({ host: '127.0.0.1', port: 0 }) })
