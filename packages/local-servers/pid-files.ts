import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import path from 'node:path'
import { UserError, screen } from './screen.ts'

const STOP_TIMEOUT_MS = 20_000

// A killed launcher leaves the pid files of its processes, `run/<name>`, and the next one stops what still runs.
// A pid alone is not enough, because the system reuses it: the start time tells processes apart.

export function writePidFile (dataDir: string, name: string, pid: number) {
  try {
    writeFileSync(path.join(dataDir, 'run', name), processSignature(pid))
  } catch (error) {
    // A full disk must not prevent the start.
    screen.warn(`cannot write the pid file of ${name}: ${(error as Error).message}`)
  }
}

export function removePidFile (dataDir: string, name: string) {
  rmSync(path.join(dataDir, 'run', name), { force: true })
}

/**
 * Claims `dataDir` for this launcher, after waiting for one that is stopping.
 * @throws UserError if another launcher runs there
 */
export async function claimDataDir (dataDir: string) {
  const ownerOf = (name: string) => findLivePid(path.join(dataDir, 'run', name))
  if (ownerOf('stopping')) screen.step('Waiting for the previous launcher to stop …')
  for (const end = Date.now() + STOP_TIMEOUT_MS; ownerOf('stopping') && Date.now() < end;) await sleep(50)
  removePidFile(dataDir, 'stopping')
  if (!ownerOf('launcher')) removePidFile(dataDir, 'launcher')
  try {
    writeFileSync(path.join(dataDir, 'run', 'launcher'), processSignature(process.pid), { flag: 'wx' })
  } catch {
    const pid = ownerOf('launcher') ?? 'unknown'
    throw new UserError(
      `Tandem already runs in ${dataDir} (pid ${pid}): stop it, or set DATA_DIR to another folder`
    )
  }
}

/** Stops processes that an earlier launcher left running, and returns their names. */
export async function stopOrphans (dataDir: string): Promise<string[]> {
  const names = readdirSync(path.join(dataDir, 'run')).filter((name) => name !== 'launcher')
  const stopped = await Promise.all(names.map(async (name) => {
    const file = path.join(dataDir, 'run', name)
    const pid = findLivePid(file)
    // SIGINT is the fast and clean shutdown of Postgres; the others treat it like SIGTERM.
    for (const [signal, timeoutMs] of [['SIGINT', 5_000], ['SIGKILL', 2_000]] as const) {
      if (findLivePid(file)) kill(pid, signal)
      for (const end = Date.now() + timeoutMs; findLivePid(file) && Date.now() < end;) await sleep(50)
    }
    rmSync(file)
    return pid ? [name] : []
  }))
  return stopped.flat()
}

/**
 * The pid and start time, which identify a process even after its pid is reused; only the pid if the process is dead.
 */
export function processSignature (pid: number): string {
  return `${pid} ${startTimeOf(pid)}`
}

/** The pid in a pid file, if that process is still alive. */
export function findLivePid (file: string): number | undefined {
  const [pid, ...born] = read(file).split(' ')
  const alive = pid && born.join(' ') !== '' && startTimeOf(Number(pid)) === born.join(' ')
  return alive ? Number(pid) : undefined
}

function startTimeOf (pid: number): string {
  if (process.platform === 'linux') {
    // The program's name, in parentheses, may contain spaces; the 20th field after it is the start time. Zombies count
    // as dead.
    const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
    return fields[0] === 'Z' ? '' : fields[19] ?? ''
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}

function kill (pid: number | undefined, signal: NodeJS.Signals) {
  try {
    if (pid) process.kill(pid, signal)
  } catch {
    // It has already ended.
  }
}

function read (file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
