import { mkdirSync } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import serveStatic from '@fastify/static'
import {
  createUrlSigner,
  isMediaKey,
  isPrivateMediaKey,
  isVideoKey,
  THUMBNAIL_WIDTHS,
  thumbnailKeyOf
} from '@tandem/media-url-kit'
import { Forbidden, NotFound, sendError, ValidationError } from '@tandem/http-kit'
import { ConfigError } from '@tandem/process-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BASE_PATH } from '../routes.ts'
import { RangeNotSatisfiable, sendVideo } from './videos.ts'

export interface MediaOptions {
  folder?: string
  cdnUrl?: string
  publicUrl?: string
  /** The secrets that sign the URLs of private images, separated by commas. */
  signingKey?: string
}

const reservedPaths = ['/health', '/docs', '/openapi.json', '/.well-known', BASE_PATH.split('/', 2).join('/')]

/** The path of uploaded media on this gateway, or undefined if another server serves them. */
function mediaPathOf (cdnUrl: string, publicUrl: string | undefined) {
  const cdn = new URL(cdnUrl)
  if (publicUrl && cdn.origin !== new URL(publicUrl).origin) return undefined
  const mediaPath = cdn.pathname.replace(/\/+$/, '')
  if (mediaPath === '' || reservedPaths.some((each) => mediaPath === each || mediaPath.startsWith(`${each}/`))) {
    throw new ConfigError(`CDN_URL must have its own path, such as ${cdn.origin}/media`)
  }
  return mediaPath
}

/**
 * Serves uploaded images, with `?w=` their thumbnails, and videos. Public ones are cached for a week: a file never
 * changes, but it can be deleted. Private ones need a signed URL and are cached by clients only, until the URL expires.
 * Serves nothing if CDN_URL is on another origin.
 */
export async function serveMedia (app: FastifyInstance, { folder, cdnUrl, publicUrl, signingKey }: MediaOptions) {
  if (!folder) return
  const mediaPath = cdnUrl === undefined ? '/media' : mediaPathOf(cdnUrl, publicUrl)
  if (!mediaPath) return
  if (!signingKey) throw new ConfigError('MEDIA_SIGNING_KEY is missing: without it private images cannot be served')
  const signer = createUrlSigner(signingKey)
  const root = path.resolve(folder)
  try {
    mkdirSync(root, { recursive: true })
  } catch {
    throw new ConfigError(`MEDIA_DIR cannot be created: ${root}`)
  }

  // Folders and path traversal are plain 404s: the response reveals nothing about the file system.
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    sendError(toFileError(error), request, reply)
  )
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, public: true, logged: false }
  })
  const maxAges = new WeakMap<FastifyRequest, number>()
  await app.register(serveStatic, {
    root,
    serve: false,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders: (response) => setHeaders(response, maxAges.get(response.request))
  })

  app.get<{ Params: { '*': string }, Querystring: Record<string, unknown> }>(
    `${mediaPath}/*`,
    async (request, reply) => {
      const { params: { '*': key }, query } = request
      // Every media file has such a key, so no other spelling of a private key can bypass its signature.
      if (!isMediaKey(key)) throw new NotFound()
      if (isPrivateMediaKey(key)) {
        const seconds = signer.verify(key, query)
        // The same response whether the image exists or not.
        if (seconds === undefined) throw new Forbidden()
        maxAges.set(request, seconds)
      }
      if (isVideoKey(key)) {
        setHeaders(reply, maxAges.get(request))
        return await sendVideo(request, reply, path.join(root, key))
      }
      return await reply.sendFile(await findFile(root, key, query['w']))
    }
  )
}

/** @param seconds how long the signed URL of a private file is valid; undefined for a public one */
function setHeaders (response: Pick<FastifyReply, 'header'>, seconds: number | undefined) {
  response.header(
    'cache-control',
    seconds === undefined ? 'public, max-age=604800, immutable' : `private, max-age=${seconds}`
  )
  // Pages of other origins can show the files. If a browser ever renders one as a page, the sandbox disables it.
  response.header('cross-origin-resource-policy', 'cross-origin')
  response.header('access-control-allow-origin', '*')
  response.header('content-security-policy', "default-src 'none'; sandbox")
  response.header('x-content-type-options', 'nosniff')
}

// A signed URL without access is 403, a width that does not exist 400, a range that does not exist 416; everything else
// is about the file: 404.
function toFileError (error: Error & { statusCode?: number }) {
  const { statusCode = 500 } = error
  if (statusCode === 416) return new RangeNotSatisfiable()
  return statusCode < 500 && !(error instanceof Forbidden || error instanceof ValidationError) ? new NotFound() : error
}

/** The file of the thumbnail with the width `w`, or that of the image itself if it is not wider. */
async function findFile (root: string, key: string, w: unknown) {
  if (w === undefined) return key
  const width = THUMBNAIL_WIDTHS.find((each) => String(each) === w)
  if (width === undefined) {
    throw new ValidationError('wMustBeOneOfWidths', ['w'], { widths: THUMBNAIL_WIDTHS.join(', ') })
  }
  const thumbnail = thumbnailKeyOf(key, width)
  return await access(path.join(root, thumbnail)).then(() => thumbnail, () => key)
}
