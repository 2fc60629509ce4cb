import { createServer } from 'node:net'

// Below the range from which systems take the ports of outgoing connections, so none of those is in the way later.
const FIRST = 20_000
const LAST = 32_000

const given = new Set<number>()

/** A port that nobody listens on and that was not handed out before. Somebody may still be faster: be ready to ask again. */
export async function freePort (host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < 1_000; tries++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (!given.has(port) && await isFree(port, host)) {
      given.add(port)
      return port
    }
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} on ${host}`)
}

/** The first free port from `port` on. */
export async function nextFreePort (port: number, host: string): Promise<number> {
  for (let next = port; next < 65_536; next++) if (await isFree(next, host)) return next
  throw new Error(`no free port from ${port} on ${host}`)
}

export async function isFree (port: number, host = '127.0.0.1'): Promise<boolean> {
  return await portError(port, host) === undefined
}

/** Why this process may not listen there: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` … */
export async function portError (port: number, host: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}
