import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { traceId } from './tracing.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: answers of this route are not worth a line, as those to probes. */
    logged?: boolean
  }
}

export type Log = Logger

const secrets = new Set(['authorization', 'cookie', 'set-cookie', 'password', 'confirmpassword', 'newpassword', 'currentpassword', 'token',
  'accesstoken', 'refreshtoken', 'identitytoken', 'idtoken', 'pushtoken', 'secret', 'email', 'birthdate', 'latitude', 'longitude'])

// `code` names the kind of an error too, so it is hidden only when it looks like one sent by mail.
const isSecret = (key: string, value: unknown) => secrets.has(key.toLowerCase()) || (key === 'code' && /^\d{6}$/.test(String(value)))

/**
 * Hides the values of secret names, four objects deep. pino's own redaction takes 30 µs of a line that has nothing to hide, ten times
 * as long as all the rest of it.
 */
function hideSecrets (object: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let shown: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(object)) {
    let shownValue = value
    if (isSecret(key, value)) shownValue = '[hidden]'
    else if (depth < 4 && typeof value === 'object' && value !== null && (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)) {
      shownValue = hideSecrets(value as Record<string, unknown>, depth + 1)
    }
    if (shownValue !== value) {
      shown ??= (Array.isArray(object) ? [...object] : { ...object }) as Record<string, unknown>
      shown[key] = shownValue
    }
  }
  return shown ?? object
}

// The detail, hint and parameters of a Postgres error quote the row, so only what names the place is kept.
function describeError (error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code, table, constraint } = error as { code?: unknown, table?: unknown, constraint?: unknown }
  return { type: name, message, code, table, constraint, stack, ...(cause instanceof Error && { cause: describeError(cause) }) }
}

const levels = new Set(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])

/** A logger of JSON lines. Each carries the id of the trace that the running code belongs to. */
export function createLogger (name: string, level = process.env.LOG_LEVEL ?? 'info', destination?: DestinationStream): Log {
  const options = {
    name,
    level: levels.has(level) ? level : 'info',
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: hideSecrets },
    serializers: { err: describeError, error: describeError },
    mixin () {
      const id = traceId()
      return id ? { traceId: id } : {}
    }
  }
  return destination ? pino(options, destination) : pino(options)
}

/** The logger of a process, which does not wait for whoever reads it, and what resolves once all of it has left the process. */
export function createProcessLogger (name: string) {
  const output = pino.destination({ sync: false })
  async function flush () {
    const drained = once(output, 'drain')
    output.write('')
    await drained
  }
  return { log: createLogger(name, undefined, output), flush }
}

/** One line for each answer: the route as it is written and the path as it was asked, never the query, which may hold a token. */
export function logResponses (app: FastifyInstance, log: Log) {
  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.logged !== false) {
      log.info({
        method: request.method,
        route: request.routeOptions.url,
        path: request.url.split('?', 1)[0]?.slice(0, 200),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        requestId: request.id,
        // The last bytes may leave in the context of another request on the same connection.
        traceId: traceId(request.trace)
      }, 'answered')
    }
    done()
  })
}
