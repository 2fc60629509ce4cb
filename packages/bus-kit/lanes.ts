/**
 * Runs work side by side, at most `width` pieces at once, but the pieces of one lane in the order they entered.
 */
export function lanes (width: number) {
  const tails = new Map<string, Promise<void>>()
  const free: (() => void)[] = []
  let running = 0

  async function slot () {
    if (running < width) running++
    else await new Promise<void>((resolve) => free.push(resolve))
  }

  function leave () {
    const next = free.shift()
    if (next) next()
    else running--
  }

  return {
    /** Waits for a free place, not for the work. The work must not throw. */
    async enter (lane: string, work: () => Promise<void>) {
      await slot()
      const tail = (tails.get(lane) ?? Promise.resolve()).then(work).finally(() => {
        leave()
        if (tails.get(lane) === tail) tails.delete(lane)
      })
      tails.set(lane, tail)
    },
    async empty () {
      await Promise.allSettled(tails.values())
    }
  }
}
