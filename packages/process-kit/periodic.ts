import type { KitLog } from './logging.ts'

interface PeriodicOptions {
  intervalMs: number
  log: Pick<KitLog, 'warn'>
}

/**
 * Runs `work` now and every `intervalMs` until the returned function is called. A failure is logged and retried at the
 * next interval. Runs never overlap: while one takes longer than the interval, no other starts.
 */
export function runPeriodically (work: () => Promise<unknown>, { intervalMs, log }: PeriodicOptions) {
  let running: Promise<unknown> | undefined
  const tick = () => {
    running ??= work()
      .catch((error: unknown) => log.warn({ err: error }, 'periodic work failed; it runs again at the next interval'))
      .finally(() => {
        running = undefined
      })
  }
  tick()
  const timer = setInterval(tick, intervalMs)
  return async () => {
    clearInterval(timer)
    await running
  }
}
