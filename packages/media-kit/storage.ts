import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AwsClient } from 'aws4fetch'
import { StorageAway } from './errors.ts'
import { sweep } from './leftovers.ts'

/** Where files are kept. Keys are relative paths that this project makes; no part of them comes from a client. */
export interface Storage {
  /** @throws StorageAway, and then nobody sees any of it */
  put (key: string, bytes: Buffer, mimeType: string): Promise<void>
  /** @throws when there is no such file */
  get (key: string): Promise<Buffer>
  /** Does nothing when there is no such file. */
  remove (key: string): Promise<void>
}

export interface S3Settings { endpoint: string, bucket: string, region: string, accessKeyId: string, secretAccessKey: string }

// Within the 10 s that a gateway gives an upload.
const PATIENCE = 8_000

/** Keeps files below a directory of this machine, for one machine alone or one that all share. */
export function diskStorage (directory: string): Storage {
  const unfinishedFiles = path.join(directory, '.unfinished')
  sweep(unfinishedFiles)
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
        throw new StorageAway({ cause: error })
      }
    },
    get: async (key) => await readFile(path.join(directory, key)),
    remove: async (key) => await rm(path.join(directory, key), { force: true })
  }
}

/** Keeps files in a bucket of any store that speaks S3. */
export function s3Storage ({ endpoint, bucket, region, accessKeyId, secretAccessKey }: S3Settings): Storage {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2 })
  const urlOf = (key: string) => `${endpoint.replace(/\/$/, '')}/${bucket}/${key}`

  async function call (key: string, init: RequestInit) {
    const response = await client.fetch(urlOf(key), { ...init, signal: AbortSignal.timeout(PATIENCE) })
      .catch((error: unknown) => { throw new StorageAway({ cause: error }) })
    if (response.ok || (init.method === 'DELETE' && response.status === 404)) return response
    // Read to its end, or the connection could not be used again.
    await response.arrayBuffer().catch(() => {})
    throw new StorageAway({ cause: new Error(`the object store answered ${response.status} to ${init.method}`) })
  }

  return {
    async put (key, bytes, mimeType) {
      await call(key, {
        method: 'PUT', body: new Uint8Array(bytes), headers: { 'content-type': mimeType, 'cache-control': 'public, max-age=31536000, immutable' }
      })
    },
    get: async (key) => Buffer.from(await (await call(key, { method: 'GET' })).arrayBuffer()),
    remove: async (key) => { await call(key, { method: 'DELETE' }) }
  }
}
