import rateLimit from '@fastify/rate-limit'
import httpProxy from '@fastify/http-proxy'
import jwt from '@fastify/jwt'
import Fastify from 'fastify'
import { Redis } from 'ioredis'

// The baseline for the gateway: the same work done by stock plugins, combined as their documentation shows.
const { UPSTREAM = '', REDIS_URL = '', PUBLIC_KEY = '' } = process.env
const app = Fastify()
await app.register(jwt, { secret: { public: PUBLIC_KEY }, verify: { algorithms: ['ES256'], cache: true } })
await app.register(rateLimit, { max: 1_000_000_000, timeWindow: 60_000, redis: new Redis(REDIS_URL) })
await app.register(httpProxy, {
  upstream: UPSTREAM,
  preHandler: async (request) => {
    await request.jwtVerify()
  }
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.(app.server.address())
process.on('disconnect', () => process.exit())
