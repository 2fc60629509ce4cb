import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Unavailable } from '@tandem/process-kit'
import { sweepStaleFiles } from './stale-files.ts'
import type { Storage } from './storage.ts'

/** Stores files below a directory, on a single machine or on a shared volume. */
export function diskStorage (directory: string): Storage {
  const unfinishedFolder = path.join(directory, '.unfinished')
  sweepStaleFiles(unfinishedFolder)

  const write = async (key: string, content: Buffer | AsyncIterable<Buffer>) =>
    await store(key, async (unfinished) => await writeFile(unfinished, content))

  async function store (key: string, write: (unfinished: string) => Promise<void>) {
    const file = path.join(directory, key)
    const unfinished = path.join(unfinishedFolder, randomUUID())
    try {
      await mkdir(path.dirname(file), { recursive: true })
      await mkdir(unfinishedFolder, { recursive: true })
      await write(unfinished)
      // A concurrent reader sees the whole file or none of it.
      await rename(unfinished, file)
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {})
      throw new Unavailable({ cause: error })
    }
  }

  return {
    put: write,
    putStream: write,
    // The kernel copies: nothing of a video of 50 MB passes through this process.
    putFile: async (key, file) => await store(key, async (unfinished) => await copyFile(file, unfinished)),
    async find (key) {
      return await readFile(path.join(directory, key)).catch(undefinedIfMissing)
    },
    async read (key, range) {
      const file = await open(path.join(directory, key)).catch(undefinedIfMissing)
      return file?.createReadStream(range)
    },
    async size (key) {
      return (await stat(path.join(directory, key)).catch(undefinedIfMissing))?.size
    },
    remove: async (key) => await rm(path.join(directory, key), { force: true }),
    // Again if another process has just written into it.
    removeFolder: async (prefix) =>
      await rm(path.join(directory, prefix), { recursive: true, force: true, maxRetries: 3 }),
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
