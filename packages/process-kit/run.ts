import closeWithGrace from 'close-with-grace'
import { ConfigError } from './config.ts'
import { createLogger, type Log } from './logging.ts'
import { showSources } from './stacks.ts'
import { startTracing } from './tracing.ts'

type Close = () => unknown
interface CloseOptions {
  /** How long it may take, besides the 10 s for all. */
  extraMs?: number
}
type Main = (onClose: (close: Close, options?: CloseOptions) => void, log: Log) => Promise<unknown>

// Kubernetes kills after 45 s, the local launcher sooner.
const SHUTDOWN_TIMEOUT_MS = 10_000

// Errors whose cause is at the other end of a connection. The operator needs the message, not our stack.
const CONNECTION_ERROR =
  /^(E[A-Z_]+|28P01|28000|3D000|57P0\d|08\w{3}|53300|CONNECTION_REFUSED|TIMEOUT|AUTHORIZATION_VIOLATION|NO_RESPONDERS|503)$/

function describeStartError (error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const { code, port, address } = error as { code?: unknown, port?: number, address?: string }
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is already in use`
  if (code === 'EACCES') return `no permission to listen on port ${port} of ${address}`
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((each) => describeStartError(each)).join(', ')
  }
  return typeof code === 'string' && CONNECTION_ERROR.test(code)
    ? error.message
    : showSources(error.stack) ?? error.message
}

/**
 * Runs a process. `main` opens its resources in order and registers a function to close each one with `onClose`. They
 * are called in reverse order on SIGTERM, on SIGINT, and when the parent that forked this process is gone, with 10 s
 * for all of them and what `extraMs` adds. A failed start prints the reason in one line and exits with 1. An uncaught error also exits with 1,
 * because the supervisor then starts a clean process.
 */
export async function run (name: string, main: Main): Promise<void> {
  const log = createLogger(name)
  const open: Close[] = [await startTracing(name)]
  let timeoutMs = SHUTDOWN_TIMEOUT_MS
  let closing: Promise<void> | undefined

  const closeAll = () => {
    closing ??= (async () => {
      for (const close of open.reverse()) {
        try {
          await close()
        } catch (error) {
          log.error({ err: error }, 'closing a resource failed')
        }
      }
    })()
    return closing
  }

  const grace = closeWithGrace({ delay: false, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught error')
    else log.info({ signal }, 'shutting down')
    const timer = setTimeout(() => {
      log.error(`killed by timeout (${timeoutMs}ms)`)
      process.exit(1)
    }, timeoutMs)
    await closeAll()
    clearTimeout(timer)
  })
  process.once('disconnect', () => {
    if (!closing) grace.close()
  })

  try {
    await main((close, { extraMs = 0 } = {}) => {
      open.push(close)
      timeoutMs += extraMs
    }, log)
  } catch (error) {
    if (closing) return
    // Unlike process.stderr.write, it does not fail if the line cannot be written.
    console.error(`${name} cannot start: ${describeStartError(error).replaceAll('\n', `\n${name} cannot start: `)}`)
    const timer = setTimeout(() => process.exit(1), 2_000)
    await closeAll()
    clearTimeout(timer)
    process.exit(1)
  }
}
