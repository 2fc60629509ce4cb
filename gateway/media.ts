import { mkdirSync } from 'node:fs'
import path from 'node:path'
import serveStatic from '@fastify/static'
import { ConfigError, NotFound, refuse } from '@tandem/service-kit'
import type { FastifyInstance } from 'fastify'
import { base } from './routes.ts'

export interface MediaOptions {
  folder?: string
  cdnUrl?: string
  publicUrl?: string
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

/** Serves the files of uploaded media, for ever cached as none ever changes. Where CDN_URL is on another origin it serves none. */
export async function serveMedia (app: FastifyInstance, { folder, cdnUrl, publicUrl }: MediaOptions) {
  if (!folder) return
  const place = cdnUrl === undefined ? '/media' : findPlace(cdnUrl, publicUrl)
  if (!place) return
  const root = path.resolve(folder)
  try {
    mkdirSync(root, { recursive: true })
  } catch {
    throw new ConfigError(`MEDIA_DIR cannot be made: ${root}`)
  }

  // A folder, or a way out of it, is no file, and no more is told.
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    refuse((error.statusCode ?? 500) < 500 ? new NotFound() : error, request, reply))
  app.addHook('onRoute', (route) => { route.config = { ...route.config, public: true, logged: false } })
  await app.register(serveStatic, {
    root,
    prefix: `${place}/`,
    decorateReply: false,
    index: false,
    redirect: false,
    dotfiles: 'ignore',
    immutable: true,
    maxAge: '365d',
    globIgnore: [],
    setHeaders (response) {
      // Pages of other origins may show the pictures. Should a file ever be read as a page, it may do nothing.
      response.header('cross-origin-resource-policy', 'cross-origin')
      response.header('access-control-allow-origin', '*')
      response.header('content-security-policy', "default-src 'none'; sandbox")
      response.header('x-content-type-options', 'nosniff')
    }
  })
}
