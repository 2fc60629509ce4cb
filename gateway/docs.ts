import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** GET /docs: a page to read the interface and try it, made of nothing but what is installed here. */
export async function serveDocs (app: FastifyInstance) {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const nonce = randomBytes(16).toString('base64')
  const policy = [
    "default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'",
    `script-src 'self' 'nonce-${nonce}'`, "style-src 'self' 'unsafe-inline'", "img-src 'self' data: https:", "font-src 'self' data:",
    "connect-src 'self'", "worker-src 'self' blob:"
  ].join('; ')

  app.addHook('onRoute', (route) => { route.config = { ...route.config, public: true, logged: false } })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('content-security-policy', policy)
    done()
  })
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Tandem',
      nonce,
      withDefaultFonts: false,
      telemetry: false,
      persistAuth: true
    }
  })
}
