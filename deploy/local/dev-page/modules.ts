import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

// The page is served as it is written, and so are its two libraries: there is no bundler.

const libraries = {
  'preact': import.meta.resolve('preact'),
  'preact/hooks': import.meta.resolve('preact/hooks'),
  'htm': import.meta.resolve('htm')
}

const importMap = JSON.stringify({
  imports: Object.fromEntries(Object.keys(libraries).map((name) => [name, `/modules/${name}.js`]))
})
const hash = createHash('sha256').update(importMap).digest('base64')

/** Images and API calls go to the gateway, which has another origin. */
export const CONTENT_SECURITY_POLICY =
  `default-src 'self'; script-src 'self' 'sha256-${hash}'; style-src 'self' 'unsafe-inline'; ` +
  'img-src http: https: data: blob:; media-src http: https: blob:; connect-src http: https: ws: wss: blob:; ' +
  "frame-ancestors 'none'; base-uri 'none'"

export function serveModules (app: FastifyInstance) {
  for (const [name, url] of Object.entries(libraries)) {
    app.get(
      `/modules/${name}.js`,
      (_request, reply) => reply.type('text/javascript').send(readFileSync(fileURLToPath(url)))
    )
  }
}

/** Serves an HTML file with the import map of the libraries in place of its comment. */
export function servePage (app: FastifyInstance, path: string, file: string) {
  app.get(path, (_request, reply) => {
    const map = `<script type="importmap">${importMap}</script>`
    return reply.type('text/html').header('content-security-policy', CONTENT_SECURITY_POLICY)
      .send(readFileSync(file, 'utf8').replace('<!-- import map -->', map))
  })
}
