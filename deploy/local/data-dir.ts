import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync
} from 'node:fs'
import path from 'node:path'
import { claimDataDir, stopOrphans } from '@tandem/local-servers/pid-files.ts'
import { UserError, screen } from '@tandem/local-servers/screen.ts'

// A first start writes 170 MB, and NATS reserves 192 for its streams, of three quarters of what is free.
const MIN_FREE_MB = 500
// Everything that this launcher writes there. --fresh deletes nothing else: DATA_DIR may hold other files.
const OWN_FILES = [
  'postgres',
  'postgres.new',
  'redis',
  'nats',
  'mails',
  'media',
  'ledger',
  'logs',
  'secrets.json',
  'stack.json'
]

/** Prepares the folder and claims it for this launcher. @throws UserError if it is not writable, full, or in use */
export async function openDataDir (dataDir: string, { fresh = false } = {}) {
  try {
    for (const folder of ['run', 'logs', 'media']) createFolder(path.join(dataDir, folder))
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new UserError(
      `Cannot write to ${dataDir} (${(error as NodeJS.ErrnoException).code}): set DATA_DIR to a folder that you own`
    )
  }
  const { bavail, bsize } = statfsSync(dataDir)
  const freeMb = Math.floor(bavail * bsize / 2 ** 20)
  if (freeMb < MIN_FREE_MB) {
    throw new UserError(
      `${dataDir} has only ${freeMb} MB free and needs ${MIN_FREE_MB}: free some space, or set DATA_DIR to another disk`
    )
  }

  await claimDataDir(dataDir)
  const leftovers = await stopOrphans(dataDir)
  if (leftovers.length > 0) screen.warn(`Stopped processes that an earlier start left running: ${leftovers.join(', ')}`)
  rmSync(path.join(dataDir, 'stack.json'), { force: true })
  if (fresh) { for (const name of OWN_FILES) rmSync(path.join(dataDir, name), { recursive: true, force: true }) }

  const logs = path.join(dataDir, 'logs')
  for (const folder of ['logs', 'media']) createFolder(path.join(dataDir, folder))
  for (const file of readdirSync(logs).filter((name) => /^[a-z]+\.log$/.test(name))) {
    renameSync(path.join(logs, file), path.join(logs, file.replace('.log', '.1.log')))
  }
}

// Node's recursive mkdir never returns if a file system, such as /proc, denies a folder that it just listed.
function createFolder (folder: string) {
  if (existsSync(folder)) return
  createFolder(path.dirname(folder))
  mkdirSync(folder)
}

/** A secret that is created at the first start and kept as long as the data. */
export function readOrCreateSecret (dataDir: string, name: string): string {
  const file = path.join(dataDir, 'secrets.json')
  const secrets = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Record<string, string> : {}
  secrets[name] ??= randomBytes(32).toString('hex')
  writeAtomically(file, JSON.stringify(secrets, undefined, 2))
  return secrets[name]
}

/** Writes a private file atomically: a reader, or a crash, finds the old content or the new one, never half of it. */
export function writeAtomically (file: string, content: string) {
  writeFileSync(`${file}.new`, `${content}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
