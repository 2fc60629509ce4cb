import { context, createContextKey } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'
import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { showSources } from './stacks.ts'
import { traceId } from './tracing.ts'

export type Log = Logger

/** The part of a logger that kits use. */
export interface KitLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

const LOG_FIELDS = createContextKey('fields of log lines')
const BOUND_CONTEXT = Symbol('bound context')

/** What a log is bound to. It is read when a line is written. */
interface LogSource {
  trace?: Context
  /** The id of a request that has no trace yet. */
  requestId?: string
}

interface BoundLog {
  [BOUND_CONTEXT]?: LogSource
}

/** `running` with fields that stand on each line logged in it. They are read when a line is written. */
export const withLogFields = (running: Context, readFields: () => object) => running.setValue(LOG_FIELDS, readFields)

/** The fields of lines that are logged in `running`. */
export const readLogFields = (running: Context) => (running.getValue(LOG_FIELDS) as (() => object) | undefined)?.()

/** Makes `log` and its children write the fields and the trace id of `bound`, whatever code is running. */
export function bindLog (log: object, bound: LogSource) {
  // A WeakMap takes 8 % of the gateway's CPU per request.
  ;(log as BoundLog)[BOUND_CONTEXT] = bound
}

function readContextFields (log: object) {
  const bound = (log as BoundLog)[BOUND_CONTEXT]
  if (bound && !bound.trace) return { requestId: bound.requestId }
  const running = bound?.trace ?? context.active()
  return { ...readLogFields(running), traceId: traceId(running) }
}

const SECRET_NAMES = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'confirmpassword',
  'newpassword',
  'currentpassword',
  'token',
  'accesstoken',
  'refreshtoken',
  'identitytoken',
  'idtoken',
  'pushtoken',
  'secret',
  'email',
  'birthdate',
  'latitude',
  'longitude'
])

// `code` is also the name of error codes, so it is hidden only if it looks like a mailed code.
const isSecret = (key: string, value: unknown) =>
  SECRET_NAMES.has(key.toLowerCase()) || (key === 'code' && /^\d{6}$/.test(String(value)))

/**
 * Hides the values of fields with secret names, up to four objects deep. pino's own redaction takes 30 µs for a line
 * without secrets, ten times as long as the rest of the line.
 */
function hideSecrets (object: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(object)) {
    let shownValue = value
    if (isSecret(key, value)) shownValue = '[hidden]'
    else if (
      depth < 4 && typeof value === 'object' && value !== null &&
      (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    ) {
      shownValue = hideSecrets(value as Record<string, unknown>, depth + 1)
    }
    if (shownValue !== value) {
      copy ??= (Array.isArray(object) ? [...object] : { ...object }) as Record<string, unknown>
      copy[key] = shownValue
    }
  }
  return copy ?? object
}

// A batch may fail for each of its items.
const MAX_LOGGED_CAUSES = 30

// The detail, hint and parameters of a Postgres error quote the row, so only the code, table and constraint are logged.
function describeError (error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code, table, constraint } = error as { code?: unknown, table?: unknown, constraint?: unknown }
  return {
    type: name,
    message,
    code,
    table,
    constraint,
    stack: showSources(stack),
    ...(cause instanceof Error && { cause: describeError(cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.slice(0, MAX_LOGGED_CAUSES).map(describeError) })
  }
}

// What cannot be written, as on a full disk, is kept up to this size and written when there is room again.
const MAX_UNWRITTEN_BYTES = 1024 * 1024

/**
 * Writes lines to stdout. It never throws, whatever is wrong with stdout: a process goes on without its log. pino gets
 * only `write`, because it would wait without end for the other methods to write the last line.
 */
function createDestination (): DestinationStream {
  const stdout = pino.destination({ sync: true, maxLength: MAX_UNWRITTEN_BYTES })
  stdout.on('error', () => {})
  return { write: (line) => stdout.write(line) }
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/**
 * Creates a logger that writes JSON lines. Each line has the trace id and the fields of the running code. It is written
 * at once, which is not pino's default: a thread that writes it takes more CPU than the write, and a killed process would
 * lose its last lines.
 */
export function createLogger (
  name: string,
  level = process.env.LOG_LEVEL ?? 'info',
  destination: DestinationStream = createDestination()
): Log {
  const options = {
    name,
    level: LOG_LEVELS.find((each) => each === level) ?? 'info',
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: hideSecrets },
    serializers: { err: describeError, error: describeError },
    mixin: (_line: object, _level: number, log: object) => readContextFields(log)
  }
  return pino(options, destination)
}
