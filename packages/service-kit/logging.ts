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

const secrets = ['authorization', 'cookie', 'password', 'confirmPassword', 'newPassword', 'token', 'accessToken', 'refreshToken',
  'identityToken', 'idToken', 'pushToken', 'secret', 'email', 'birthDate', 'latitude', 'longitude']

// `code` names the kind of an error too, so it is hidden only where a code sent by mail would stand.
const redacted = [...secrets.flatMap((name) => [name, `*.${name}`]), 'headers["set-cookie"]', 'body.code', 'data.code']

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
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, error: describeError },
    redact: { paths: redacted, censor: '[hidden]' },
    mixin () {
      const id = traceId()
      return id ? { traceId: id } : {}
    }
  }
  return destination ? pino(options, destination) : pino(options)
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
        requestId: request.id
      }, 'answered')
    }
    done()
  })
}
