// A server of its own for the test of memory: it says where it listens, and how much it holds when asked.
import Fastify from 'fastify'
import { createMedia, diskStorage, readImage, uploadLimit, uploads } from './index.ts'

const app = Fastify()
const media = createMedia({ storage: diskStorage(process.argv[2] ?? ''), cdnUrl: 'http://cdn.example.com' })
await app.register(uploads)
app.post('/', { bodyLimit: uploadLimit }, async (request) => await media.store('profile', crypto.randomUUID(), await readImage(request, 'file')))

let most = 0
setInterval(() => { most = Math.max(most, process.memoryUsage.rss()) }, 5)
process.on('message', () => {
  process.send?.({ most })
  most = 0
})
process.on('disconnect', () => process.exit())
process.send?.({ address: await app.listen({ host: '127.0.0.1', port: 0 }) })
