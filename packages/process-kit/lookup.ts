import { createBatcher } from './batcher.ts'
import { chunksOf } from './chunks-of.ts'
import { setBounded } from './set-bounded.ts'

const MAX_KEYS_PER_CALL = 100

interface Options {
  /** How long a key counts as unknown after its owner did not find it; default 5 s. */
  unknownTtlMs?: number
  /** How many unknown keys are cached; the oldest are evicted first. */
  maxUnknown?: number
}

/**
 * Creates a lookup of items that another service owns. Lookups that arrive during a call wait and share the next one,
 * so this process makes one call to the owner at a time. A key that the owner does not know is cached as unknown for a
 * moment, so a flood of invented keys ends here. Failures are not cached.
 * @param read returns the items it finds by their keys; it gets each key once
 * @returns a function that finds items and leaves out unknown keys
 */
export function createLookup<Item> (
  read: (keys: string[]) => Promise<Map<string, Item>>,
  { unknownTtlMs = 5_000, maxUnknown = 10_000 }: Options = {}
): (keys: string[]) => Promise<Item[]> {
  const unknownUntil = new Map<string, number>()

  const findAll = createBatcher(async (lookups: string[][]) => {
    const keys = [...new Set(lookups.flat())]
    const items = new Map<string, Item>()
    for (const chunk of chunksOf(keys, MAX_KEYS_PER_CALL)) {
      for (const [key, item] of await read(chunk)) items.set(key, item)
    }
    for (const key of keys) if (!items.has(key)) setBounded(unknownUntil, key, Date.now() + unknownTtlMs, maxUnknown)
    return lookups.map((wantedKeys) => wantedKeys.flatMap((key) => items.get(key) ?? []))
  })

  return async (keys) => {
    const now = Date.now()
    const candidates = [...new Set(keys)].filter((key) => (unknownUntil.get(key) ?? 0) <= now)
    return candidates.length === 0 ? [] : await findAll(candidates)
  }
}
