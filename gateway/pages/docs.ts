import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'

/**
 * GET /docs: a page to read the interface and try it, made of nothing but what is installed here. It is loaded when it is first asked
 * for: it takes 60 MB, and most processes are never asked.
 */
export async function serveDocs (app: FastifyInstance) {
  const nonce = randomBytes(16).toString('base64')
  const policy = [
    "default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'",
    `script-src 'self' 'nonce-${nonce}'`, "style-src 'self' 'unsafe-inline'", "img-src 'self' data: https:", "font-src 'self' data:",
    "connect-src 'self'", "worker-src 'self' blob:"
  ].join('; ')

  // Scalar keeps the bearer in localStorage, where it would outlive the tab and be shared with every page of this origin.
  const storage = `<script nonce="${nonce}">Object.defineProperty(window, 'localStorage', { value: window.sessionStorage })</script>`

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
        // In `localStorage`, which the page below makes the storage of its tab.
        persistAuth: true,
        withDefaultFonts: false,
        // Nothing that leads to somebody else's service.
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
      .send(type.startsWith('text/html') ? rawPayload.toString().replace('<body>', () => `<body>${storage}`) : rawPayload)
  })
}
