import { randomInt } from 'node:crypto'
import type { Teardown } from './teardown.ts'

/** As much of a tap test as is needed to print the seed after a failure. */
interface Test extends Teardown {
  passing(): boolean
}

/** Random numbers from 0 to 1 for a test. If it fails, the seed is printed, and `RANDOM_SEED` repeats the numbers. */
export function seededRandom (t: Test, seed = Number(process.env['RANDOM_SEED'] ?? randomInt(2 ** 32))) {
  t.teardown(() => {
    if (!t.passing()) console.error(`Repeat the random numbers of this test with RANDOM_SEED=${seed}`)
  })
  return randomFrom(seed)
}

/** Random numbers for one of several things that happen at once: of shared ones, each would take others every time. */
export const randomOfItsOwn = (random: () => number) => randomFrom(Math.floor(random() * 2 ** 32))

/** The generator mulberry32. */
function randomFrom (seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The items in another order. */
export function shuffle<Item> (items: readonly Item[], random: () => number): Item[] {
  return items.map((item) => ({ item, place: random() })).sort((a, b) => a.place - b.place).map(({ item }) => item)
}
