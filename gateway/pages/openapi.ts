import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { JsonClient } from '../identity/json-client.ts'
import { joinDocuments } from './join-documents.ts'
import type { OpenapiDocument } from './join-documents.ts'
import { describeGateway } from './gateway-document.ts'
import { BASE_PATH, serviceNames } from '../routes.ts'
import type { ServiceName } from '../routes.ts'

const TIMEOUT_MS = 1_000
const TTL_MS = 10_000

interface OpenapiOptions {
  upstreams: Record<ServiceName, string>
  jsonClient: Pick<JsonClient, 'get'>
  version: string
  publicUrl?: string
}

/**
 * GET /openapi.json: one document for all services. An unavailable service is left out and named in the description.
 */
export async function serveOpenapi (
  app: FastifyInstance,
  { upstreams, jsonClient, version, publicUrl }: OpenapiOptions
) {
  const servers = [
    { url: BASE_PATH, description: 'This server' },
    ...(publicUrl ? [{ url: new URL(BASE_PATH, publicUrl).href, description: 'Public address' }] : [])
  ]
  let joined: ReturnType<typeof join> | undefined
  let joinedAt = 0

  async function join () {
    const missing: ServiceName[] = []
    const found = await Promise.all(serviceNames.map(async (name) => {
      try {
        const document = await jsonClient.get(
          new URL('/openapi.json', upstreams[name]).href,
          TIMEOUT_MS
        ) as OpenapiDocument
        if (typeof document.paths !== 'object') throw new Error('the response is not an OpenAPI document')
        return [{ name, document }]
      } catch (error) {
        app.log.warn({ err: error, service: name }, 'a service does not return its OpenAPI document')
        missing.push(name)
        return []
      }
    }))
    // Do not cache an incomplete document: the missing services may be back soon.
    if (missing.length > 0) joinedAt = 0
    const parts = [{ name: 'gateway', document: describeGateway() }, ...found.flat()]
    const document = JSON.stringify(joinDocuments(parts, { version, servers, missing }))
    return { document, etag: `W/"${createHash('sha256').update(document).digest('base64url').slice(0, 22)}"` }
  }

  const config = { public: true, logged: false, limitsFloods: true, neverRefused: true }
  app.get('/openapi.json', { config }, async (request, reply) => {
    if (!joined || Date.now() - joinedAt > TTL_MS) {
      joinedAt = Date.now()
      joined = join()
    }
    const { document, etag } = await joined
    reply.headers({ 'cache-control': 'public, max-age=10', 'access-control-allow-origin': '*', etag })
    if (request.headers['if-none-match']?.includes(etag)) return await reply.code(304).send()
    return await reply.type('application/json; charset=utf-8').send(document)
  })
}
