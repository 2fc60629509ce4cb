const TICK_MS = 500
const FLOOR_PER_TICK = 64 * 1_024 * TICK_MS / 1_000
// Two seconds at the floor: so long may a body pause, and so long it is not judged.
const MAX_CREDIT = 4 * FLOOR_PER_TICK
const MIN_BYTES_PER_SECOND = 8 * 1_024
const MIN_AFTER_MS = 5_000

/** A long body on its way from or to a client. */
export interface Transfer {
  /** The account and the client address, or what else stands for a person. */
  owners: string[]
  /** How many bytes have been transferred so far. */
  countBytes(): number
  /** Whether it waits for the client right now, and not for a service or for memory. */
  waitsForClient(): boolean
  /** Ends it, because the client is too slow. */
  end(): void
  /** Whether it is ended as soon as others wait, however fast it is; default false. */
  isSurplus?(): boolean
}

/**
 * Bounds what slow clients hold. A body below 64 KiB/s, from its third second on, is slow. One at a time of each owner
 * may be, for people with bad reception, and none while `isShort`, as others wait for what it holds. The rest is ended,
 * and so is a body below 8 KiB/s after 5 s.
 */
export function createPace ({ isShort }: { isShort: () => boolean }) {
  /** The slow transfer of an owner: the function that stops watching it. */
  const slow = new Map<string, () => void>()

  /** Watches a transfer until the returned function is called, or until it was ended. */
  return ({ owners, countBytes, waitsForClient, end, isSurplus = () => false }: Transfer): () => void => {
    const bytesBefore = countBytes()
    let counted = bytesBefore
    let credit = MAX_CREDIT
    let waitedMs = 0
    const timer = setInterval(judge, TICK_MS)

    function judge () {
      if (isSurplus() && isShort()) {
        stop()
        return end()
      }
      const bytes = countBytes()
      credit = Math.min(MAX_CREDIT, credit + bytes - counted)
      counted = bytes
      if (!waitsForClient()) return
      waitedMs += TICK_MS
      credit = Math.max(0, credit - FLOOR_PER_TICK)
      if (credit > 0) return forgive()
      const isTooSlow = waitedMs > MIN_AFTER_MS && bytes - bytesBefore < waitedMs / 1_000 * MIN_BYTES_PER_SECOND
      const isAnother = owners.some((owner) => slow.has(owner) && slow.get(owner) !== stop)
      if (isTooSlow || isAnother || isShort()) {
        stop()
        return end()
      }
      for (const owner of owners) slow.set(owner, stop)
    }
    function forgive () {
      for (const owner of owners) if (slow.get(owner) === stop) slow.delete(owner)
    }
    function stop () {
      clearInterval(timer)
      forgive()
    }
    return stop
  }
}
