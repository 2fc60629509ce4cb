import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isPrivateMediaKey } from '@tandem/http-kit'
import { AwsClient } from 'aws4fetch'
import { presign } from './presign.ts'
import { Unavailable } from '@tandem/process-kit'
import { sweepStaleFiles } from './stale-files.ts'

/** A file store. Keys are relative paths that we create; no part of them comes from a client. */
export interface Storage {
  /** Atomic: readers see the whole file or none of it. @throws Unavailable */
  put(key: string, bytes: Buffer, mimeType: string): Promise<void>
  /** Undefined if there is no such file. @throws Unavailable */
  find(key: string): Promise<Buffer | undefined>
  /** Does nothing if there is no such file. */
  remove(key: string): Promise<void>
  /** The keys of all files in a folder: `prefix` ends with a slash. @throws StorageUnavailable */
  list(prefix: string): Promise<string[]>
  /**
   * The store's own URL of a private file, valid for 30 to 60 minutes. Stores that clients cannot reach do not have
   * this function.
   */
  presign?: (key: string) => string
}

export interface S3Settings {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

const PUBLIC_CACHE_CONTROL = 'public, max-age=31536000, immutable'
const PRIVATE_CACHE_CONTROL = 'private, max-age=3600'
// Shorter than the gateway's upload timeout of 10 s.
const TIMEOUT_MS = 8_000

/** Stores files below a directory, on a single machine or on a shared volume. */
export function diskStorage (directory: string): Storage {
  const unfinishedFolder = path.join(directory, '.unfinished')
  sweepStaleFiles(unfinishedFolder)
  return {
    async put (key, bytes) {
      const file = path.join(directory, key)
      const unfinished = path.join(unfinishedFolder, randomUUID())
      try {
        await mkdir(path.dirname(file), { recursive: true })
        await mkdir(unfinishedFolder, { recursive: true })
        await writeFile(unfinished, bytes)
        // A concurrent reader sees the whole file or none of it.
        await rename(unfinished, file)
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
        throw new Unavailable({ cause: error })
      }
    },
    async find (key) {
      return await readFile(path.join(directory, key)).catch(undefinedIfMissing)
    },
    remove: async (key) => await rm(path.join(directory, key), { force: true }),
    async list (prefix) {
      const entries = await readdir(path.join(directory, prefix), { recursive: true, withFileTypes: true })
        .catch(undefinedIfMissing)
      return (entries ?? []).filter((entry) => entry.isFile())
        .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    }
  }
}

function undefinedIfMissing (error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw new Unavailable({ cause: error })
}

/** Stores private files in one store and all others in another. */
export function splitStorage (publicStorage: Storage, privateStorage: Storage): Storage {
  const storeOf = (key: string) => isPrivateMediaKey(key) ? privateStorage : publicStorage
  return {
    put: async (key, bytes, mimeType) => await storeOf(key).put(key, bytes, mimeType),
    find: async (key) => await storeOf(key).find(key),
    remove: async (key) => await storeOf(key).remove(key),
    list: async (prefix) => await storeOf(prefix).list(prefix),
    ...(privateStorage.presign && { presign: privateStorage.presign })
  }
}

/** Stores files in a bucket of any S3-compatible store. */
export function s3Storage ({ endpoint, bucket, region, accessKeyId, secretAccessKey }: S3Settings): Storage {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2 })
  const urlOf = (key: string) => `${endpoint.replace(/\/$/, '')}/${bucket}/${key}`

  async function call (path: string, init: RequestInit) {
    const response = await client.fetch(urlOf(path), { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
      .catch((error: unknown) => {
        throw new Unavailable({ cause: error })
      })
    if (response.ok || response.status === 404) return response
    // The body must be read to its end, or the connection cannot be reused.
    await response.arrayBuffer().catch(() => {})
    throw new Unavailable({
      cause: new Error(`the object store returned ${response.status} for ${init.method}`)
    })
  }

  return {
    async put (key, bytes, mimeType) {
      const response = await call(key, {
        method: 'PUT',
        body: new Uint8Array(bytes),
        headers: {
          'content-type': mimeType,
          'cache-control': key.startsWith('public/') ? PUBLIC_CACHE_CONTROL : PRIVATE_CACHE_CONTROL
        }
      })
      if (!response.ok) throw new Unavailable({ cause: new Error('the bucket does not exist') })
    },
    async find (key) {
      const response = await call(key, { method: 'GET' })
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.ok ? bytes : undefined
    },
    async remove (key) {
      await (await call(key, { method: 'DELETE' })).arrayBuffer()
    },
    async list (prefix) {
      const keys: string[] = []
      for (let token: string | undefined;;) {
        const page = token === undefined ? '' : `&continuation-token=${encodeURIComponent(token)}`
        const response = await call(`?list-type=2&prefix=${encodeURIComponent(prefix)}${page}`, { method: 'GET' })
        const xml = await response.text()
        // Keys are made by us and contain nothing that XML escapes.
        keys.push(...[...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key))
        token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(xml)?.[1]
        if (token === undefined) return keys
      }
    },
    presign: (key) => presign(urlOf(key), { region, accessKeyId, secretAccessKey })
  }
}
