// A process that only starts: what any service loads, an HTTP server that listens, and nothing else.
import Fastify from 'fastify'
import 'nats'
import 'pg'

const app = Fastify()
await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.('listening')
