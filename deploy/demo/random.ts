/** A seeded source of numbers: the same seed makes the same demo. */
export interface Random {
  /** A number from 0 to 1, without 1. */
  next: () => number
  /** An integer from `min` to `max`, both included. */
  integer: (min: number, max: number) => number
  chance: (probability: number) => boolean
  pick: <T>(items: readonly T[]) => T
  /** `count` different items. */
  sample: <T>(items: readonly T[], count: number) => T[]
}

/** Mulberry32: 32 bits of state are enough for pictures and small talk. */
export function createRandom (seed: string): Random {
  let state = 0x9e3779b9
  for (const character of seed) state = Math.imul(state ^ character.charCodeAt(0), 0x85ebca6b)
  const next = () => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const pick = <T>(items: readonly T[]): T => items[integer(0, items.length - 1)] as T
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick,
    sample (items, count) {
      const left = [...items]
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(integer(0, left.length - 1), 1))
        .flat()
    }
  }
}
