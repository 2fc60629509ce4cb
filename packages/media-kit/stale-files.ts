import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'

// Many times as long as anything takes that writes such a file.
const OLD = 10 * 60 * 1_000

/**
 * Removes, now and every ten minutes, the files of `folder` that begin with `prefix` and have not been written to for ten: those of a
 * process that was killed. Processes of several services may share a folder. It keeps no process alive.
 * @returns what ends it
 */
export function sweepStaleFiles (folder: string, prefix = '') {
  const removeOld = () => void removeStaleFiles(folder, prefix).catch(() => {})
  removeOld()
  const timer = setInterval(removeOld, OLD).unref()
  return async () => clearInterval(timer)
}

export async function removeStaleFiles (folder: string, prefix: string) {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix))
  for (const file of names.map((name) => path.join(folder, name))) {
    // Whoever sees it too may have removed it already.
    const written = await stat(file).then(({ mtimeMs }) => mtimeMs, () => Date.now())
    if (Date.now() - written > OLD) await rm(file, { force: true })
  }
}
