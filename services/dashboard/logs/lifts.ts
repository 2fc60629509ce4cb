import type { LogData } from '../tables.ts'
import type { Lift } from '../records/actions.ts'

interface Exercise { name: string, sets: { reps: number, weightKg: number }[] }

/** An exercise is the same whatever case and spacing its name is written in. */
const keyOf = (name: string) => name.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')

/** The heaviest set of each exercise of a workout; of two as heavy the one with more repetitions. Sets without weight do not count. */
export function liftsOf (log: { id: string, at: Date, data: LogData }): Omit<Lift, 'isRecord'>[] {
  const heaviest = new Map<string, Omit<Lift, 'isRecord'>>()
  for (const { name, sets } of (log.data['exercises'] ?? []) as Exercise[]) {
    for (const { reps, weightKg } of sets) {
      const best = heaviest.get(keyOf(name))
      const heavier = !best || weightKg > best.weightKg || (weightKg === best.weightKg && reps > best.reps)
      if (weightKg > 0 && heavier) heaviest.set(keyOf(name), { logId: log.id, exerciseKey: keyOf(name), exercise: name, weightKg, reps, at: log.at })
    }
  }
  return [...heaviest.values()]
}
