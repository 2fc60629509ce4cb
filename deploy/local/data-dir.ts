import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { claim, stopLeftovers } from './footprints.ts'
import { Refusal, screen } from './screen.ts'

const NEEDED_MB = 300
// What this launcher ever writes there. Nothing else is touched by --fresh: DATA_DIR may hold a stranger's files.
const OURS = ['postgres', 'postgres.new', 'redis', 'nats', 'mails', 'media', 'logs', 'secrets.json', 'stack.json']

/** Makes the folder ready for this launcher alone. @throws Refusal when it cannot be written, is full, or in use */
export async function openDataDir (dataDir: string, { fresh = false } = {}) {
  try {
    for (const folder of ['run', 'logs', 'media']) makeFolder(path.join(dataDir, folder))
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new Refusal(`Cannot write to ${dataDir} (${(error as NodeJS.ErrnoException).code}): set DATA_DIR to a folder of yours`)
  }
  const { bavail, bsize } = statfsSync(dataDir)
  const freeMb = Math.floor(bavail * bsize / 2 ** 20)
  if (freeMb < NEEDED_MB) throw new Refusal(`Only ${freeMb} MB are free for ${dataDir}, and ${NEEDED_MB} are needed: make room, or set DATA_DIR to another disk`)

  await claim(dataDir)
  const leftovers = await stopLeftovers(dataDir)
  if (leftovers.length > 0) screen.warn(`Stopped what an earlier start left running: ${leftovers.join(', ')}`)
  rmSync(path.join(dataDir, 'stack.json'), { force: true })
  if (fresh) for (const name of OURS) rmSync(path.join(dataDir, name), { recursive: true, force: true })

  const logs = path.join(dataDir, 'logs')
  for (const folder of ['logs', 'media']) makeFolder(path.join(dataDir, folder))
  for (const file of readdirSync(logs).filter((name) => /^[a-z]+\.log$/.test(name))) {
    renameSync(path.join(logs, file), path.join(logs, file.replace('.log', '.1.log')))
  }
}

// Node's own recursive mkdir never returns where a file system, such as /proc, denies the folder it just listed.
function makeFolder (folder: string) {
  if (existsSync(folder)) return
  makeFolder(path.dirname(folder))
  mkdirSync(folder)
}

/** A secret made at the first start and the same at every other, as long as the data lives. */
export function secret (dataDir: string, name: string): string {
  const file = path.join(dataDir, 'secrets.json')
  const secrets = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Record<string, string> : {}
  secrets[name] ??= randomBytes(32).toString('hex')
  writeWhole(file, JSON.stringify(secrets, undefined, 2))
  return secrets[name]
}

/** Writes a private file so that a reader, or a crash, finds the old one or the new one, never half of it. */
export function writeWhole (file: string, content: string) {
  writeFileSync(`${file}.new`, `${content}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
