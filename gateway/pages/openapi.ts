import type { FastifyInstance } from 'fastify'
import type { JsonClient } from '../identity/fetch-json.ts'
import { joinDocuments } from './join-documents.ts'
import type { Document } from './join-documents.ts'
import { metaDocument } from './meta.ts'
import { base, serviceNames } from '../routes.ts'
import type { Service } from '../routes.ts'

const timeoutMs = 1_000
const fresh = 10_000

interface OpenapiOptions {
  upstreams: Record<Service, string>
  asker: Pick<JsonClient, 'ask'>
  version: string
  publicUrl?: string
}

/** GET /openapi.json: what all services answer to, as one document. A service that is away is left out, and named in the description. */
export async function serveDocument (app: FastifyInstance, { upstreams, asker, version, publicUrl }: OpenapiOptions) {
  const servers = [{ url: base, description: 'Here' }, ...(publicUrl ? [{ url: new URL(base, publicUrl).href, description: 'In public' }] : [])]
  let joined: Promise<Document> | undefined
  let received = 0

  async function join () {
    const missing: Service[] = []
    const found = await Promise.all(serviceNames.map(async (name) => {
      try {
        const document = await asker.ask(new URL('/openapi.json', upstreams[name]).href, timeoutMs) as Document
        if (typeof document.paths !== 'object') throw new Error('no document was answered')
        return [{ name, document }]
      } catch (error) {
        app.log.warn({ err: error, service: name }, 'a service does not describe itself')
        missing.push(name)
        return []
      }
    }))
    // What is missing may be back in a moment.
    if (missing.length > 0) received = 0
    return joinDocuments([{ name: 'gateway', document: metaDocument }, ...found.flat()], { version, servers, missing })
  }

  app.get('/openapi.json', { config: { public: true, logged: false } }, async (_request, reply) => {
    if (!joined || Date.now() - received > fresh) {
      received = Date.now()
      joined = join()
    }
    return reply.header('cache-control', 'public, max-age=10').header('access-control-allow-origin', '*').send(await joined)
  })
}
