import type { LimitFunction } from 'p-limit'

/** Runs work in parallel, up to the given limit, but work of one key in the order of the calls. */
export function serializeByKey () {
  const tails = new Map<string, Promise<void>>()

  return (key: string, limit: LimitFunction, work: () => Promise<void>): Promise<void> => {
    const start = () => limit(work)
    const tail = (tails.get(key) ?? Promise.resolve()).then(start, start)
    tails.set(key, tail)
    return tail.finally(() => {
      if (tails.get(key) === tail) tails.delete(key)
    })
  }
}
