import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { readStack, type Stack } from './stack.ts'

/** An outage, and of what. */
export type Period = [from: number, to: number, of: string]

/** The servers of a rehearsal, by name. */
type Servers = Record<string, { wipe: () => Promise<void> }>

/** What a rehearsal that kills and wipes works with. */
export interface Rehearsal {
  stack: Stack
  dataDir: string
  database: pg.Pool
  random: () => number
  servers: Servers
}

interface Kills {
  dataDir: string
  random: () => number
  names: readonly string[]
  intervalMs: number
  /** Asked before each kill. */
  goesOn: (kill: number) => boolean
}

/** Kills one of the processes after the other. @returns when each was killed, and when it was ready again */
export async function killRepeatedly ({ dataDir, random, names, intervalMs, goesOn }: Kills) {
  const outages: Promise<Period>[] = []
  for (let kill = 0; goesOn(kill);) {
    const name = names[Math.floor(random() * names.length)]!
    const killedAt = Date.now()
    const pid = await killIfRunning(dataDir, name)
    if (pid !== undefined) {
      outages.push(waitUntilReady(dataDir, name, pid).then(() => [killedAt, Date.now(), name]))
      kill++
      console.log(`${kill}: kill -9 ${name} (${pid})`)
    }
    await sleep(intervalMs)
  }
  return await Promise.all(outages)
}

/** Kills the gateway or a service. @returns its pid; undefined if it is down, as after another kill */
export async function killIfRunning (dataDir: string, name: string) {
  const { pid } = await find(dataDir, name)
  return pid !== null && kill9(pid) ? pid : undefined
}

/** Deletes the data of one server after the other, as a lost disk does. @returns when each was unavailable */
export async function wipeInTurn (servers: Servers, intervalMs: number) {
  const outages: Period[] = []
  for (const [name, server] of Object.entries(servers)) {
    await sleep(intervalMs)
    const from = Date.now()
    await server.wipe()
    outages.push([from, Date.now(), name])
    console.log(`wiped ${name}`)
  }
  return outages
}

/** @returns false if it has just ended by itself, as on a lost connection at the start */
function kill9 (pid: number) {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

async function find (dataDir: string, name: string) {
  const { gateway, services } = await readStack(dataDir)
  return name === 'gateway' ? gateway : services[name]!
}

async function waitUntilReady (dataDir: string, name: string, killedPid: number) {
  for (;;) {
    const { pid, url } = await find(dataDir, name)
    const isReady = pid !== null && pid !== killedPid &&
      await fetch(`${url}/health/ready`).then((response) => response.ok, () => false)
    if (isReady) return
    await sleep(50)
  }
}
