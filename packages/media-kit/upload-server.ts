// A separate server process for tests of memory and CPU: it sends its address, and its usage on request.
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { createMedia, diskStorage, readImage, UPLOAD_BODY_LIMIT, multipartUploads } from './index.ts'

const app = Fastify()
const media = createMedia({ storage: diskStorage(process.argv[2] ?? ''), cdnUrl: 'http://cdn.example.com' })
await app.register(multipartUploads)
app.post(
  '/',
  { bodyLimit: UPLOAD_BODY_LIMIT },
  async (request, reply) =>
    await media.store('public', await readImage(request, reply, 'file', crypto.randomUUID()), async () => {})
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
