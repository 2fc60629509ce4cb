import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './logging.ts'

// Shutdown or startup, no free connection, statement or lock timeout, deadlock, serialization failure, a server that is
// read-only (as after a failover) or out of disk or memory, network: a retry may succeed.
const TRANSIENT_CODES = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
  '53100',
  '53200',
  '57014',
  '55P03',
  '40001',
  '40P01',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT'
])

// node-postgres, nats and ioredis throw some errors without a code.
const TRANSIENT_MESSAGES =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/
const TRANSIENT_NAMES = new Set(['MaxRetriesPerRequestError'])
const TRANSIENT_NATS_CODES = new Set([
  'TIMEOUT',
  '503',
  'CONNECTION_CLOSED',
  'CONNECTION_REFUSED',
  'CONNECTION_DRAINING',
  'DISCONNECT'
])

/** Whether a retry may succeed, because Postgres, NATS, Redis or the network failed, and not the request. */
export function isTransient (error: Error & { code?: unknown }): boolean {
  const code = typeof error.code === 'string' ? error.code : ''
  if (TRANSIENT_CODES.has(code) || /^08\w{3}$/.test(code) || TRANSIENT_NAMES.has(error.name)) return true
  if (error.name === 'NatsError' && TRANSIENT_NATS_CODES.has(code)) return true
  if (TRANSIENT_MESSAGES.test(error.message)) return true
  return error.cause instanceof Error && isTransient(error.cause)
}

const START_TIMEOUT_MS = 60_000
const START_RETRY_MS = 500

/**
 * Does work of the start that needs a server, again and again until the server responds: those that start together are
 * ready in any order.
 * @param work can be repeated after it failed
 * @throws its error after a minute, and at once one that does not pass
 */
export async function untilAvailable<Result> (work: () => Promise<Result>, log: Log): Promise<Result> {
  const deadline = Date.now() + START_TIMEOUT_MS
  for (let attempt = 1;; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error) || !isTransient(error) || Date.now() > deadline) throw error
      if (attempt === 1) log.warn({ err: error }, 'cannot start yet; retrying for a minute')
      await sleep(START_RETRY_MS)
    }
  }
}
