import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** The stored files of a data folder, sorted: media and selfies, without the ledger. */
export async function listFiles (dataDir: string) {
  const files: string[] = []
  for (const folder of ['media', 'selfies']) {
    const found = await readdir(path.join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => [])
    files.push(...found.filter((each) => each.isFile()).map((each) => path.join(each.parentPath, each.name)))
  }
  return files.sort()
}
