import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'

/**
 * GET /docs: a page to read the API and try it. It loads nothing from other servers. Its code is imported on the first
 * request: it takes 60 MB, and most processes never serve it.
 */
export async function serveDocs (app: FastifyInstance) {
  const nonce = randomBytes(16).toString('base64')
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: https:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:"
  ].join('; ')

  // Scalar keeps the bearer token in localStorage, where it would outlive the tab and be shared with every page of this
  // origin.
  const storage =
    `<script nonce="${nonce}">Object.defineProperty(window, 'localStorage', { value: window.sessionStorage })</script>`

  async function load () {
    const { default: reference } = await import('@scalar/fastify-api-reference')
    const inner = Fastify()
    await inner.register(reference, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json',
        pageTitle: 'Tandem',
        nonce,
        authentication: { preferredSecurityScheme: 'bearer' },
        // Uses `localStorage`, which the script below replaces with the storage of the tab.
        persistAuth: true,
        withDefaultFonts: false,
        // No links to third-party services.
        telemetry: false,
        showDeveloperTools: 'never',
        hideClientButton: true,
        agent: { disabled: true },
        mcp: { disabled: true }
      }
    })
    return inner
  }
  let loading: ReturnType<typeof load> | undefined

  const options = { config: { public: true, logged: false } }
  app.get('/docs', options, async (_request, reply) => reply.redirect('/docs/'))
  app.get('/docs/*', options, async (request, reply) => {
    loading ??= load()
    const { statusCode, headers, rawPayload } = await (await loading).inject({ url: request.url })
    if (statusCode !== 200) return reply.callNotFound()
    const type = String(headers['content-type'])
    return reply
      .header('content-security-policy', policy)
      .header('cache-control', 'public, max-age=600')
      .type(type)
      .send(
        type.startsWith('text/html') ? rawPayload.toString().replace('<body>', () => `<body>${storage}`) : rawPayload
      )
  })
}
