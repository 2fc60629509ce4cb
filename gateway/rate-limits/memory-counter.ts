/** So many hits, and in how many milliseconds they are forgotten. */
export interface Hits { current: number, ttl: number }

/** Counts hits in this process. */
export interface Memory {
  count (key: string, window: number): Hits
  /** What is known of `key`, if its window has not ended. */
  recall (key: string): Hits | undefined
  /** Takes over what is known elsewhere; of two counts of one window the higher is the true one. */
  learn (key: string, hits: Hits): void
}

const most = 100_000
const betweenSweeps = 5_000

export function createMemoryCounter (now = Date.now): Memory {
  const windows = new Map<string, { count: number, endsAt: number }>()
  let swept = -Infinity

  function find (key: string) {
    const known = windows.get(key)
    return known && known.endsAt > now() ? known : undefined
  }

  function store (key: string, count: number, endsAt: number) {
    // To look through all of them takes a moment, so a flood of new clients must not bring it about each time.
    if (windows.size >= most && now() - swept >= betweenSweeps) {
      swept = now()
      for (const [each, { endsAt }] of windows) if (endsAt <= now()) windows.delete(each)
    }
    // The oldest goes, and with it somebody's count; the process must not be filled up from outside.
    if (windows.size >= most) for (const oldest of windows.keys()) { windows.delete(oldest); break }
    windows.delete(key)
    windows.set(key, { count, endsAt })
  }

  return {
    count (key, window) {
      const known = find(key)
      if (known) return { current: ++known.count, ttl: known.endsAt - now() }
      store(key, 1, now() + window)
      return { current: 1, ttl: window }
    },
    recall (key) {
      const known = find(key)
      return known && { current: known.count, ttl: known.endsAt - now() }
    },
    learn (key, { current, ttl }) {
      const known = find(key)
      if (known) known.count = Math.max(known.count, current)
      else store(key, current, now() + ttl)
    }
  }
}
