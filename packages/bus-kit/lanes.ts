import pLimit from 'p-limit'

/** Runs work side by side, at most `width` pieces at once, but the pieces of one lane in the order they entered. */
export function lanes (width: number) {
  const limit = pLimit(width)
  const tails = new Map<string, Promise<void>>()

  return (lane: string, work: () => Promise<void>): Promise<void> => {
    const begin = () => limit(work)
    const tail = (tails.get(lane) ?? Promise.resolve()).then(begin, begin)
    tails.set(lane, tail)
    return tail.finally(() => {
      if (tails.get(lane) === tail) tails.delete(lane)
    })
  }
}
