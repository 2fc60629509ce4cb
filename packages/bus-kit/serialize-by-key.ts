import type { LimitFunction } from 'p-limit'

/** Runs work side by side, as much of it at once as there are `places` for its kind, but the pieces of one lane in the order they entered. */
export function serializeByKey () {
  const tails = new Map<string, Promise<void>>()

  return (lane: string, places: LimitFunction, work: () => Promise<void>): Promise<void> => {
    const begin = () => places(work)
    const tail = (tails.get(lane) ?? Promise.resolve()).then(begin, begin)
    tails.set(lane, tail)
    return tail.finally(() => {
      if (tails.get(lane) === tail) tails.delete(lane)
    })
  }
}
