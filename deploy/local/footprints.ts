import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import path from 'node:path'
import { Refusal, screen } from './screen.ts'

const STOPPED_WITHIN = 20_000

// A launcher that was killed leaves its processes' footprints, `run/<name>`, and the next one cleans up after it.
// A pid alone will not do, because the system gives it to somebody else one day: the time of birth tells them apart.

export function writePidFile (dataDir: string, name: string, pid: number) {
  try {
    writeFileSync(path.join(dataDir, 'run', name), signature(pid))
  } catch (error) {
    // A full disk is no reason not to run.
    screen.warn(`${name} leaves no footprint: ${(error as Error).message}`)
  }
}

export function removePidFile (dataDir: string, name: string) {
  rmSync(path.join(dataDir, 'run', name), { force: true })
}

/** Makes this process the only launcher of `dataDir`, after one that is just stopping. @throws Refusal when another one is at work there */
export async function claim (dataDir: string) {
  const ownerOf = (name: string) => findSurvivor(path.join(dataDir, 'run', name))
  if (ownerOf('stopping')) screen.step('Waiting for the one before to stop …')
  for (const end = Date.now() + STOPPED_WITHIN; ownerOf('stopping') && Date.now() < end;) await sleep(50)
  removePidFile(dataDir, 'stopping')
  if (!ownerOf('launcher')) removePidFile(dataDir, 'launcher')
  try {
    writeFileSync(path.join(dataDir, 'run', 'launcher'), signature(process.pid), { flag: 'wx' })
  } catch {
    throw new Refusal(`Tandem runs in ${dataDir} already (pid ${ownerOf('launcher') ?? 'unknown'}): stop it, or set DATA_DIR to another folder`)
  }
}

/** Ends what an earlier launcher left behind, and returns the names. */
export async function stopLeftovers (dataDir: string): Promise<string[]> {
  const names = readdirSync(path.join(dataDir, 'run')).filter((name) => name !== 'launcher')
  const stopped = await Promise.all(names.map(async (name) => {
    const file = path.join(dataDir, 'run', name)
    const pid = findSurvivor(file)
    // SIGINT is the fast and clean stop of Postgres; the others take it like SIGTERM.
    for (const [signal, timeoutMs] of [['SIGINT', 5_000], ['SIGKILL', 2_000]] as const) {
      if (findSurvivor(file)) kill(pid, signal)
      for (const end = Date.now() + timeoutMs; findSurvivor(file) && Date.now() < end;) await sleep(50)
    }
    rmSync(file)
    return pid ? [name] : []
  }))
  return stopped.flat()
}

/** Tells a process from all others that have or will have its pid; of one that is dead, only the pid is left. */
export function signature (pid: number): string {
  return `${pid} ${birth(pid)}`
}

/** The pid that a signature in a file belongs to, if its process still lives. */
export function findSurvivor (file: string): number | undefined {
  const [pid, ...born] = read(file).split(' ')
  const alive = pid && born.join(' ') !== '' && birth(Number(pid)) === born.join(' ')
  return alive ? Number(pid) : undefined
}

function birth (pid: number): string {
  if (process.platform === 'linux') {
    // The name of the program, in parentheses, may hold spaces; the 20th field after it is the start time. Zombies are dead.
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
    // It ended by itself meanwhile.
  }
}

function read (file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
