import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isPrivateMediaKey } from '@tandem/service-kit'
import { AwsClient } from 'aws4fetch'
import { presign } from './presign.ts'
import { StorageUnavailable } from './errors.ts'
import { sweepStaleFiles } from './stale-files.ts'

/** Where files are kept. Keys are relative paths that this project makes; no part of them comes from a client. */
export interface Storage {
  /** @throws StorageAway, and then nobody sees any of it */
  put (key: string, bytes: Buffer, mimeType: string): Promise<void>
  /** Undefined when there is no such file. @throws StorageAway */
  find (key: string): Promise<Buffer | undefined>
  /** The keys that begin with `folder`, which ends with a slash. @throws StorageAway */
  list (folder: string): Promise<string[]>
  /** Does nothing when there is no such file. */
  remove (key: string): Promise<void>
  /** An address of the store itself under which a private file may be had for 30 to 60 minutes. A store that clients cannot reach has none. */
  presign?: (key: string) => string
}

export interface S3Settings { endpoint: string, bucket: string, region: string, accessKeyId: string, secretAccessKey: string }

const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_AN_HOUR = 'private, max-age=3600'
// Within the 10 s that a gateway gives an upload.
const PATIENCE = 8_000

/** Keeps files below a directory of this machine, for one machine alone or one that all share. */
export function diskStorage (directory: string): Storage {
  const unfinishedFiles = path.join(directory, '.unfinished')
  sweepStaleFiles(unfinishedFiles)
  return {
    async put (key, bytes) {
      const file = path.join(directory, key)
      const unfinished = path.join(unfinishedFiles, randomUUID())
      try {
        await mkdir(path.dirname(file), { recursive: true })
        await mkdir(unfinishedFiles, { recursive: true })
        await writeFile(unfinished, bytes)
        // Whoever reads meanwhile sees the whole file or none.
        await rename(unfinished, file)
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
        throw new StorageUnavailable({ cause: error })
      }
    },
    async find (key) {
      return await readFile(path.join(directory, key)).catch((error: unknown) => ifAbsent(error, undefined))
    },
    async list (folder) {
      const entries = await readdir(path.join(directory, folder), { recursive: true, withFileTypes: true }).catch((error: unknown) => ifAbsent(error, []))
      return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.relative(directory, path.join(parentPath, name)))
    },
    remove: async (key) => await rm(path.join(directory, key), { force: true })
  }
}

function ifAbsent<T> (error: unknown, value: T) {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value
  throw new StorageUnavailable({ cause: error })
}

/** Keeps private files in one store and all others in another. */
export function splitStorage (others: Storage, privates: Storage): Storage {
  const storeOf = (key: string) => isPrivateMediaKey(key) ? privates : others
  return {
    put: async (key, bytes, mimeType) => await storeOf(key).put(key, bytes, mimeType),
    find: async (key) => await storeOf(key).find(key),
    list: async (folder) => await storeOf(folder).list(folder),
    remove: async (key) => await storeOf(key).remove(key),
    ...(privates.presign && { presign: privates.presign })
  }
}

/** Keeps files in a bucket of any store that speaks S3. */
export function s3Storage ({ endpoint, bucket, region, accessKeyId, secretAccessKey }: S3Settings): Storage {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2 })
  const urlOf = (key: string) => `${endpoint.replace(/\/$/, '')}/${bucket}/${key}`

  async function call (path: string, init: RequestInit) {
    const response = await client.fetch(urlOf(path), { ...init, signal: AbortSignal.timeout(PATIENCE) })
      .catch((error: unknown) => { throw new StorageUnavailable({ cause: error }) })
    if (response.ok || response.status === 404) return response
    // Read to its end, or the connection could not be used again.
    await response.arrayBuffer().catch(() => {})
    throw new StorageUnavailable({ cause: new Error(`the object store answered ${response.status} to ${init.method}`) })
  }

  return {
    async put (key, bytes, mimeType) {
      const response = await call(key, {
        method: 'PUT', body: new Uint8Array(bytes), headers: { 'content-type': mimeType, 'cache-control': key.startsWith('public/') ? FOR_EVER : FOR_AN_HOUR }
      })
      if (!response.ok) throw new StorageUnavailable({ cause: new Error('the bucket does not exist') })
    },
    async find (key) {
      const response = await call(key, { method: 'GET' })
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.ok ? bytes : undefined
    },
    async list (folder) {
      const keys: string[] = []
      // A page ends at a thousand keys.
      for (let after = ''; ;) {
        const query = new URLSearchParams({ 'list-type': '2', prefix: folder, ...(after && { 'start-after': after }) })
        const response = await call(`?${query.toString()}`, { method: 'GET' })
        const page = [...(await response.text()).matchAll(/<Key>([^<]+)<\/Key>/g)].flatMap(([, key]) => key ?? [])
        keys.push(...page)
        if (page.length === 0) return keys
        after = page.at(-1)!
      }
    },
    async remove (key) {
      await (await call(key, { method: 'DELETE' })).arrayBuffer()
    },
    presign: (key) => presign(urlOf(key), { region, accessKeyId, secretAccessKey })
  }
}
