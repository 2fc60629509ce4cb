import { setBounded } from '@tandem/process-kit'

/**
 * The attempts in the current window, and the milliseconds until it ends. Names as @fastify/rate-limit expects them.
 */
export interface Attempts {
  current: number
  ttl: number
}

/** Counts attempts in this process. */
export interface MemoryCounter {
  count(key: string, windowMs: number): Attempts
  /** Merges a count from elsewhere: the higher count holds, and the end of the other's window. */
  merge(key: string, attempts: Attempts): void
}

const MAX_ENTRIES = 100_000
const SWEEP_INTERVAL_MS = 5_000

export function createMemoryCounter (now = Date.now): MemoryCounter {
  const windows = new Map<string, { count: number, endsAt: number }>()
  let sweptAt = -Infinity

  function find (key: string) {
    const known = windows.get(key)
    return known && known.endsAt > now() ? known : undefined
  }

  function store (key: string, count: number, endsAt: number) {
    // A sweep takes a moment, so a flood of new clients must not trigger one for each request.
    if (windows.size >= MAX_ENTRIES && now() - sweptAt >= SWEEP_INTERVAL_MS) {
      sweptAt = now()
      for (const [each, { endsAt }] of windows) if (endsAt <= now()) windows.delete(each)
    }
    // The oldest entry is dropped, and its count is lost: clients must not be able to fill the memory of the process.
    setBounded(windows, key, { count, endsAt }, MAX_ENTRIES)
  }

  return {
    count (key, windowMs) {
      const known = find(key)
      if (known) return { current: ++known.count, ttl: known.endsAt - now() }
      store(key, 1, now() + windowMs)
      return { current: 1, ttl: windowMs }
    },
    merge (key, { current, ttl }) {
      const known = find(key)
      const endsAt = now() + ttl
      if (known) Object.assign(known, { count: Math.max(known.count, current), endsAt })
      else store(key, current, endsAt)
    }
  }
}
