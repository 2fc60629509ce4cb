import closeWithGrace from 'close-with-grace'
import { ConfigError } from './config.ts'
import { createProcessLogger, type Log } from './logging.ts'
import { startTracing } from './tracing.ts'

type Close = () => unknown
type Main = (onClose: (close: Close) => void, log: Log) => Promise<unknown>

// Kubernetes kills after 45 s, the local launcher sooner.
const untilKilled = 10_000

// What an operator mends by looking at the other end of a connection, not at our code.
const reachable = /^(E[A-Z_]+|28P01|28000|3D000|57P0\d|08\w{3}|53300|CONNECTION_REFUSED|TIMEOUT|AUTHORIZATION_VIOLATION|NO_RESPONDERS|503)$/

function explain (error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const { code, port, address } = error as { code?: unknown, port?: number, address?: string }
  if (code === 'EADDRINUSE') return `port ${port} of ${address} is taken`
  if (code === 'EACCES') return `port ${port} of ${address} may not be used`
  if (error instanceof AggregateError && error.message === '') return error.errors.map((each) => explain(each)).join(', ')
  return typeof code === 'string' && reachable.test(code) ? error.message : error.stack ?? error.message
}

/**
 * Runs a process. `main` opens what it needs in order and hands what closes each to `onClose`; they are called in reverse order on
 * SIGTERM, on SIGINT, and when the parent that forked this process is gone. It has 10 s for that. A start that fails says why in a
 * line and exits with 1; so does an error nobody caught, as the supervisor starts a clean process.
 */
export async function run (name: string, main: Main): Promise<void> {
  const { log, flush } = createProcessLogger(name)
  const open: Close[] = [await startTracing(name)]
  let closing: Promise<void> | undefined

  const closeAll = () => {
    closing ??= (async () => {
      for (const close of open.reverse()) {
        try {
          await close()
        } catch (error) {
          log.error({ err: error }, 'could not close')
        }
      }
      // What is being written when the process exits is lost.
      await flush()
    })()
    return closing
  }

  const grace = closeWithGrace({ delay: untilKilled, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'an error was not caught')
    else log.info({ signal }, 'closing')
    await closeAll()
  })
  process.once('disconnect', () => { if (!closing) grace.close() })

  try {
    await main((close) => open.push(close), log)
  } catch (error) {
    if (closing) return
    process.stderr.write(`${name} cannot start: ${explain(error).replaceAll('\n', `\n${name} cannot start: `)}\n`)
    const timer = setTimeout(() => process.exit(1), 2_000)
    await closeAll()
    clearTimeout(timer)
    process.exit(1)
  }
}
