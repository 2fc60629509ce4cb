import { readBrand } from '@tandem/brand-kit'
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'

const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="18" ' +
  'fill="#5b5bd6"/><circle cx="24" cy="34" r="13" fill="none" stroke="#fff" stroke-width="6"/>' +
  '<circle cx="40" cy="34" r="13" fill="none" stroke="#ffd166" stroke-width="6"/></svg>'

// What stands on the page until Scalar fills it, and if it cannot.
const fallback = '<noscript><p>This page needs JavaScript. The API is described in ' +
  '<a href="/openapi.json">/openapi.json</a>, too.</p></noscript>' +
  '<p id="loading" role="status" hidden>The documentation is loading …</p>' +
  '<p id="failed" role="alert" hidden>The documentation could not be loaded. Reload the page, or read ' +
  '<a href="/openapi.json">/openapi.json</a>.</p>'

// Scalar keeps the bearer token in localStorage, where it would outlive the tab and be shared with every page of this
// origin.
const startScript = `
Object.defineProperty(window, 'localStorage', { value: window.sessionStorage })
const show = (name) => { for (const each of ['loading', 'failed']) document.getElementById(each).hidden = each !== name }
show('loading')
document.addEventListener('load', ({ target }) => { if (target.src) show() }, true)
addEventListener('error', () => { if (!document.getElementById('app')?.hasChildNodes()) show('failed') }, true)
`

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

  const start = `${fallback}<script nonce="${nonce}">${startScript}</script>`

  async function load () {
    const { default: reference } = await import('@scalar/fastify-api-reference')
    const inner = Fastify()
    await inner.register(reference, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json',
        pageTitle: readBrand().brand.name,
        nonce,
        authentication: { preferredSecurityScheme: 'bearer' },
        // Uses `localStorage`, which `startScript` replaces with the storage of the tab.
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

  // Importing the page makes the event loop late, and its script is the next request.
  const options = { config: { public: true, logged: false, limitsFloods: true, neverRefused: true } }
  app.get('/', options, async (_request, reply) => reply.redirect('/docs/'))
  app.get(
    '/favicon.ico',
    options,
    async (_request, reply) => reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon)
  )
  app.get('/docs', options, async (_request, reply) => reply.redirect('/docs/'))
  app.get('/docs/*', options, async (request, reply) => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const { statusCode, headers, rawPayload } = await (await loading).inject({ url: request.url })
    if (statusCode !== 200) return reply.callNotFound()
    const type = String(headers['content-type'])
    return reply
      .header('content-security-policy', policy)
      .header('cache-control', 'public, max-age=600')
      .type(type)
      .send(
        type.startsWith('text/html') ? rawPayload.toString().replace('<body>', () => `<body>${start}`) : rawPayload
      )
  })
}
