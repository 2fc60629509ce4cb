import { mkdirSync } from 'node:fs'
import path from 'node:path'
import serveStatic from '@fastify/static'
import { ConfigError, createUrlSigner, Forbidden, isMediaKey, isPrivateMediaKey, NotFound, sendError } from '@tandem/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { base } from '../routes.ts'

export interface MediaOptions {
  folder?: string
  cdnUrl?: string
  publicUrl?: string
  /** The secrets that addresses of private images are signed with. */
  signingKey?: string
}

const ours = ['/health', '/docs', '/openapi.json', '/.well-known', base.split('/', 2).join('/')]

/** Where under this gateway uploaded media are found, or undefined when another server has them. */
function findPlace (cdnUrl: string, publicUrl: string | undefined) {
  const cdn = new URL(cdnUrl)
  if (publicUrl && cdn.origin !== new URL(publicUrl).origin) return undefined
  const place = cdn.pathname.replace(/\/+$/, '')
  if (place === '' || ours.some((each) => place === each || place.startsWith(`${each}/`))) throw new ConfigError(`CDN_URL must have a path of its own, such as ${cdn.origin}/media`)
  return place
}

/**
 * Serves uploaded images, for ever cached as none ever changes; private ones only under a signed address, and cached by clients alone until it
 * ends. Where CDN_URL is on another origin it serves none.
 */
export async function serveMedia (app: FastifyInstance, { folder, cdnUrl, publicUrl, signingKey }: MediaOptions) {
  if (!folder) return
  const place = cdnUrl === undefined ? '/media' : findPlace(cdnUrl, publicUrl)
  if (!place) return
  if (!signingKey) throw new ConfigError('MEDIA_SIGNING_KEY is missing: without it private images cannot be served')
  const signer = createUrlSigner(signingKey)
  const root = path.resolve(folder)
  try {
    mkdirSync(root, { recursive: true })
  } catch {
    throw new ConfigError(`MEDIA_DIR cannot be made: ${root}`)
  }

  // A folder, or a way out of it, is no file, and no more is told.
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    sendError((error.statusCode ?? 500) < 500 && !(error instanceof Forbidden) ? new NotFound() : error, request, reply))
  app.addHook('onRoute', (route) => { route.config = { ...route.config, public: true, logged: false } })
  const lifetimes = new WeakMap<FastifyRequest, number>()
  app.addHook('onRequest', async (request) => {
    const { '*': key = '' } = request.params as { '*'?: string }
    // Nothing of the folder has any other name. So no spelling of a private one leads past its signature.
    if (!isMediaKey(key)) throw new NotFound()
    if (!isPrivateMediaKey(key)) return
    const seconds = signer.verify(key, request.query as Record<string, unknown>)
    // The same whether there is such an image or not.
    if (seconds === undefined) throw new Forbidden()
    lifetimes.set(request, seconds)
  })
  await app.register(serveStatic, {
    root,
    prefix: `${place}/`,
    decorateReply: false,
    index: false,
    redirect: false,
    dotfiles: 'ignore',
    cacheControl: false,
    globIgnore: [],
    setHeaders (response) {
      const seconds = lifetimes.get(response.request)
      response.header('cache-control', seconds === undefined ? 'public, max-age=31536000, immutable' : `private, max-age=${seconds}`)
      // Pages of other origins may show the pictures. Should a file ever be read as a page, it may do nothing.
      response.header('cross-origin-resource-policy', 'cross-origin')
      response.header('access-control-allow-origin', '*')
      response.header('content-security-policy', "default-src 'none'; sandbox")
      response.header('x-content-type-options', 'nosniff')
    }
  })
}
