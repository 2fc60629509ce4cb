import type { Log } from './logging.ts'

/**
 * Does `work` now and again every `intervalMs` until the function it returns is called. A failure is logged and waits
 * for the next time; a run that takes longer than that is not joined by another.
 */
export function runPeriodically (work: () => Promise<unknown>, { intervalMs, log }: { intervalMs: number, log: Log }) {
  let running: Promise<unknown> | undefined
  const turn = () => {
    running ??= work()
      .catch((error: unknown) => log.warn({ err: error }, 'repeated work failed; it will be tried again'))
      .finally(() => { running = undefined })
  }
  turn()
  const timer = setInterval(turn, intervalMs)
  return async () => {
    clearInterval(timer)
    await running
  }
}
