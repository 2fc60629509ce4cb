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

export function createMemory (now = Date.now): Memory {
  const windows = new Map<string, { count: number, endsAt: number }>()

  function find (key: string) {
    const known = windows.get(key)
    return known && known.endsAt > now() ? known : undefined
  }

  function store (key: string, count: number, endsAt: number) {
    if (windows.size >= most) {
      for (const [each, { endsAt }] of windows) if (endsAt <= now()) windows.delete(each)
      // Then the oldest goes, and with it somebody's count; the process must not be filled up from outside.
      if (windows.size >= most) for (const oldest of windows.keys()) { windows.delete(oldest); break }
    }
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
