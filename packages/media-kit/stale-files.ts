import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'

// Many times longer than writing such a file takes.
const MAX_AGE_MS = 10 * 60 * 1_000

/**
 * Deletes, now and every ten minutes, files in `folder` whose names start with `prefix` and that have not been written
 * to for ten minutes. A killed process leaves them behind. Processes of several services may share a folder. The timer
 * keeps no process alive.
 * @returns a function that stops it
 */
export function sweepStaleFiles (folder: string, prefix = '') {
  const removeStale = () => void removeStaleFiles(folder, prefix).catch(() => {})
  removeStale()
  const timer = setInterval(removeStale, MAX_AGE_MS).unref()
  return async () => clearInterval(timer)
}

export async function removeStaleFiles (folder: string, prefix: string) {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix))
  for (const file of names.map((name) => path.join(folder, name))) {
    // Another process may have deleted it already.
    const writtenAt = await stat(file).then(({ mtimeMs }) => mtimeMs, () => Date.now())
    if (Date.now() - writtenAt > MAX_AGE_MS) await rm(file, { force: true })
  }
}
