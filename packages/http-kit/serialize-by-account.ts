import { setTimeout as sleep } from 'node:timers/promises'
import { serializeByKey } from '@tandem/process-kit'
import { RateLimited } from './errors.ts'

interface Options {
  /** How many calls of an account may wait; a further call throws RateLimited. */
  maxWaiting?: number
  /** The part of the time that the work of one account may take: at 0.25, the next work starts 30 ms after 10 ms of it. */
  maxShare?: number
}

/**
 * Runs the work of one account sequentially and the work of different accounts in parallel, within this process. It
 * saves database connections: work that would wait in Postgres for the same row waits here, without a connection.
 */
export function serializeByAccount ({ maxWaiting = Infinity, maxShare = 1 }: Options = {}) {
  const serialize = serializeByKey({ maxWaiting, createError: () => new RateLimited() })

  return async <Result>(accountId: string, work: () => Promise<Result>) =>
    await new Promise<Result>((resolve, reject) => {
      serialize(accountId, async () => {
        const startedAt = performance.now()
        await work().then(resolve, reject)
        const pauseMs = (performance.now() - startedAt) * (1 / maxShare - 1)
        if (pauseMs > 0) await sleep(pauseMs)
      }).catch(reject)
    })
}
