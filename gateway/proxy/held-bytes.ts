/** The bytes that this process holds because clients are slow. */
export type HeldBytes = ReturnType<typeof createHeldBytes>

/**
 * Bounds what slow clients hold in all, of bodies that have not arrived and of responses that are not read. Beyond
 * `maxBytes` the one that is held for longest is ended: others take no time worth mentioning.
 */
export function createHeldBytes (maxBytes: number) {
  /** By the function that ends it; the oldest first. */
  const held = new Map<() => void, number>()
  let total = 0

  function release (end: () => void) {
    total -= held.get(end) ?? 0
    held.delete(end)
  }

  return {
    /** Adds to what is held until `release`, or until it has been ended. */
    add (end: () => void, bytes: number) {
      held.set(end, (held.get(end) ?? 0) + bytes)
      total += bytes
      for (const oldest of held.keys()) {
        if (total <= maxBytes) return
        release(oldest)
        oldest()
      }
    },
    release
  }
}
