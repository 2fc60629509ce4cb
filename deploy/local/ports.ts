import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { signature, findSurvivor } from './footprints.ts'

// Below the range from which systems take the ports of outgoing connections, so none of those is in the way later.
const FIRST = 20_000
const LAST = 32_000

/** A port that nobody listens on and no other launcher or test has chosen. */
export async function freePort (host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < 1_000; tries++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (await take(port, host) === undefined) return port
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} on ${host}`)
}

/** Makes a port this process's own, or says why not: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` … */
export async function take (port: number, host: string): Promise<string | undefined> {
  if (!reserve(port)) return 'EADDRINUSE'
  const error = await listenError(port, host)
  if (error) release(port)
  return error
}

export async function isFree (port: number, host = '127.0.0.1'): Promise<boolean> {
  return await listenError(port, host) === undefined
}

async function listenError (port: number, host: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

// Between the choice of a port and its use a process has to start. A note in the meantime keeps others of this kind away,
// who would not only be in the way: their process would answer in the place of ours, and seem to be it.
const notes = path.join(tmpdir(), `tandem-ports-${userInfo().uid}`)
const ours = new Set<number>()

function reserve (port: number): boolean {
  const note = path.join(notes, String(port))
  if (ours.has(port)) return false
  if (findSurvivor(note)) return false
  rmSync(note, { force: true })
  mkdirSync(notes, { recursive: true })
  try {
    writeFileSync(note, signature(process.pid), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  if (ours.size === 0) process.once('exit', () => ours.forEach(release))
  ours.add(port)
  return true
}

function release (port: number) {
  ours.delete(port)
  rmSync(path.join(notes, String(port)), { force: true })
}
