import { Gauge } from 'prom-client'
import { Degraded } from '@tandem/process-kit'
import { READ_ONLY } from './hosts.ts'

const readOnly = new Gauge({
  name: 'postgres_read_only',
  help: 'Whether the last health check was refused because Postgres is read-only; no value while it is down'
})

/**
 * Runs `write`, a statement that a read-only server refuses, as a health check. It measures whether the server is
 * read-only, which operators mend in another way than a server that is down.
 * @throws Degraded if it is read-only; otherwise the error of `write`
 */
export async function checkWritable (write: () => Promise<unknown>) {
  try {
    await write()
    readOnly.set(0)
  } catch (error) {
    if ((error as { code?: unknown }).code !== READ_ONLY) {
      readOnly.remove()
      throw error
    }
    readOnly.set(1)
    throw new Degraded('Postgres is read-only')
  }
}

const DISK_FULL = '53100'
const REPORTED_FOR_MS = 60_000

/**
 * Knows from the statements of a process whether the disk of Postgres is full: give `onError` to `connect`, and `check`
 * to the health checks. The check of its own statement could succeed, because most writes need no more space. So the
 * check fails for a minute after each statement that did.
 */
export function watchDisk () {
  let fullAt = -Infinity
  return {
    onError (error: { code?: string }) {
      if (error.code === DISK_FULL) fullAt = Date.now()
    },
    async check () {
      if (Date.now() - fullAt < REPORTED_FOR_MS) throw new Degraded('the disk of Postgres is full')
    }
  }
}
