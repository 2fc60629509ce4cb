import { createPublicKey, verify } from 'node:crypto'
import Fastify from 'fastify'
import { Pool } from 'undici'

// The lower bound for a gateway on Fastify: a verified token is remembered, and the response is buffered and written at
// once. It has none of the gateway's features: no limits, log, metrics, traces, timeouts or security headers.

const { UPSTREAM = '', PUBLIC_KEY = '' } = process.env
const key = createPublicKey(PUBLIC_KEY)
const pool = new Pool(UPSTREAM, { connections: 32, pipelining: 1 })
const expiries = new Map<string, number>()

function isVerified (authorization = '') {
  const expiry = expiries.get(authorization)
  if (expiry !== undefined) return expiry > Date.now()
  const [header = '', claims = '', signature = ''] = authorization.replace('Bearer ', '').split('.')
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url')
  )
  if (!isSigned) return false
  const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp: number }
  expiries.set(authorization, exp * 1_000)
  return true
}

const app = Fastify()
app.get('/*', (request, reply) => {
  const { authorization } = request.headers
  if (!isVerified(authorization)) return reply.code(401).send()
  reply.hijack()
  const chunks: Buffer[] = []
  let status = 0
  let contentType = ''
  pool.dispatch({ path: request.url, method: 'GET', headers: { authorization: authorization ?? '' } }, {
    onRequestStart () {},
    onResponseStart (_controller, statusCode, headers) {
      status = statusCode
      contentType = String(headers['content-type'])
    },
    onResponseData (_controller, chunk) {
      chunks.push(chunk)
    },
    onResponseEnd () {
      const body = (chunks.length === 1 ? chunks[0] as Buffer : Buffer.concat(chunks)).toString('latin1')
      reply.raw.writeHead(status, { 'content-type': contentType, 'content-length': body.length }).end(body, 'latin1')
    },
    onResponseError () {
      reply.raw.writeHead(502).end()
    }
  })
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.(app.server.address())
process.on('disconnect', () => process.exit())
