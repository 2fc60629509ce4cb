import { createBatcher } from './batcher.ts'

interface Options {
  /** How long a key is taken as unknown once its owner has said so, in milliseconds; 5,000 unless told. */
  unknownTtlMs?: number
  /** How many unknown keys are remembered; the oldest go first. */
  maxUnknown?: number
  /** How many keys one call of `read` takes. */
  maxKeysPerCall?: number
}

/**
 * Finds what another service owns. Keys that are wanted while a call is under way wait for the next one and share it, so that however
 * many are wanted at once, the owner has one call at a time of this process. A key that the owner does not know is remembered for a
 * moment: a flood of made-up keys ends here. A failure is remembered of no key.
 * @param read answers with what it finds, by its key; it is called with each key once
 * @returns what finds items; unknown keys are left out
 */
export function createLookup<Item> (
  read: (keys: string[]) => Promise<Map<string, Item>>, { unknownTtlMs = 5_000, maxUnknown = 10_000, maxKeysPerCall = 100 }: Options = {}
): (keys: string[]) => Promise<Item[]> {
  const unknownUntil = new Map<string, number>()

  const findAll = createBatcher(async (requests: string[][]) => {
    const keys = [...new Set(requests.flat())]
    const items = new Map<string, Item>()
    for (let from = 0; from < keys.length; from += maxKeysPerCall) {
      for (const [key, item] of await read(keys.slice(from, from + maxKeysPerCall))) items.set(key, item)
    }
    for (const key of keys) if (!items.has(key)) rememberUnknown(key)
    return requests.map((wanted) => wanted.flatMap((key) => items.get(key) ?? []))
  })

  function rememberUnknown (key: string) {
    unknownUntil.delete(key)
    unknownUntil.set(key, Date.now() + unknownTtlMs)
    if (unknownUntil.size <= maxUnknown) return
    for (const oldest of unknownUntil.keys()) {
      unknownUntil.delete(oldest)
      break
    }
  }

  return async (keys) => {
    const now = Date.now()
    const wanted = [...new Set(keys)].filter((key) => (unknownUntil.get(key) ?? 0) <= now)
    return wanted.length === 0 ? [] : await findAll(wanted)
  }
}
