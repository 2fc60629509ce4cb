import { createHash, randomUUID } from 'node:crypto'
import { existsSync, globSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { bundle } from './bundle.ts'

const UNUSED_MS = 7 * 24 * 3_600_000

/**
 * The folder with the bundles of `entries`, made again if a source or the lockfile has changed since.
 * @param entries the main modules, relative to `root`
 * @throws BuildFailure of esbuild, whose message names each file and line
 */
export async function openBundles (root: string, entries: Record<string, string>): Promise<string> {
  const all = path.join(root, 'node_modules/.cache/bundles')
  const folder = path.join(all, identify(root, entries))
  if (!existsSync(folder)) {
    // Another launcher may write the same bundles now. The first complete folder stays.
    const unfinished = `${folder}.${randomUUID()}`
    await bundle(root, entries, unfinished)
    try {
      renameSync(unfinished, folder)
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true })
      if (!existsSync(folder)) throw error
    }
  }
  const now = new Date()
  utimesSync(folder, now, now)
  removeUnused(all)
  return folder
}

/** Changes if a source, a version of a package or this folder changes. */
function identify (root: string, entries: Record<string, string>) {
  const files = [
    ...globSync('{packages,gateway,services}/**/*.{ts,json}', {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name.endsWith('.test.ts')
    }).sort(),
    'pnpm-lock.yaml',
    ...['bundle.ts', 'cached.ts'].map((name) => path.join(import.meta.dirname, name))
  ]
  const hash = createHash('sha256').update(JSON.stringify([root, entries, process.version]))
  for (const file of files) {
    const found = statSync(path.resolve(root, file), { throwIfNoEntry: false })
    hash.update(`\n${file} ${found?.mtimeMs} ${found?.size}`)
  }
  return hash.digest('hex').slice(0, 16)
}

/** A running system can still load a part of an old bundle, so only those that no start has used for a week go. */
function removeUnused (all: string) {
  for (const name of readdirSync(all)) {
    const folder = path.join(all, name)
    const usedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (usedAt < Date.now() - UNUSED_MS) rmSync(folder, { recursive: true, force: true })
  }
}
