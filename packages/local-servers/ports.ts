import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { processSignature, findLivePid } from './pid-files.ts'

// Below the ephemeral range, so that no outgoing connection takes them.
const MIN_PORT = 20_000
const MAX_PORT = 32_000

/** Reserves a port that is free and that no other launcher or test has reserved. */
export async function freePort (host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const port = MIN_PORT + Math.floor(Math.random() * (MAX_PORT - MIN_PORT))
    if (await reservePort(port, host) === undefined) return port
  }
  throw new Error(`no free port between ${MIN_PORT} and ${MAX_PORT} on ${host}`)
}

/** Reserves a port for this process, or returns the error code: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` … */
export async function reservePort (port: number, host: string): Promise<string | undefined> {
  if (!writeReservation(port)) return 'EADDRINUSE'
  const error = await listenError(port, host)
  if (error) releasePort(port)
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

// A process has to start between the choice of a port and its use. A reservation file keeps other launchers away
// meanwhile. Without it, another launcher's process could answer on this port and look like ours.
const reservations = path.join(tmpdir(), `tandem-ports-${userInfo().uid}`)
const ownPorts = new Set<number>()

function writeReservation (port: number): boolean {
  const note = path.join(reservations, String(port))
  if (ownPorts.has(port)) return false
  mkdirSync(reservations, { recursive: true })
  if (!createNote(note) && (!removeStale(note) || !createNote(note))) return false
  if (ownPorts.size === 0) process.once('exit', () => ownPorts.forEach(releasePort))
  ownPorts.add(port)
  return true
}

/** Links a complete file, because a note that is still empty would look stale. */
function createNote (note: string): boolean {
  const complete = `${note}.${process.pid}.new`
  writeFileSync(complete, processSignature(process.pid))
  try {
    linkSync(complete, note)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(complete)
  }
}

/** Removes the note of a process that is dead. Renaming decides between two launchers that try it at once. */
function removeStale (note: string): boolean {
  if (findLivePid(note)) return false
  const stale = `${note}.${process.pid}.stale`
  try {
    renameSync(note, stale)
  } catch {
    return true
  }
  // Between the look and the renaming, another launcher may have replaced the note with its own.
  const isTaken = findLivePid(stale) !== undefined
  if (isTaken) renameSync(stale, note)
  else rmSync(stale)
  return !isTaken
}

function releasePort (port: number) {
  ownPorts.delete(port)
  rmSync(path.join(reservations, String(port)), { force: true })
}
