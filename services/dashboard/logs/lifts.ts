import type { LogData } from '../tables.ts'
import type { Lift } from '../records/actions.ts'

interface Exercise {
  name: string
  sets: { reps: number, weightKg: number }[]
}

/** Names that differ only in case and spacing are the same exercise. */
const exerciseKeyOf = (name: string) => name.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')

/**
 * The heaviest set of each exercise of a workout. Among equal weights the set with more repetitions wins. Sets without
 * weight do not count.
 */
export function liftsOf (log: { id: string, at: Date, data: LogData }): Omit<Lift, 'isRecord'>[] {
  const heaviest = new Map<string, Omit<Lift, 'isRecord'>>()
  for (const { name, sets } of (log.data['exercises'] ?? []) as Exercise[]) {
    for (const { reps, weightKg } of sets) {
      const best = heaviest.get(exerciseKeyOf(name))
      const isHeavier = !best || weightKg > best.weightKg || (weightKg === best.weightKg && reps > best.reps)
      if (weightKg > 0 && isHeavier) {
        heaviest.set(exerciseKeyOf(name), {
          logId: log.id,
          exerciseKey: exerciseKeyOf(name),
          exercise: name,
          weightKg,
          reps,
          at: log.at
        })
      }
    }
  }
  return [...heaviest.values()]
}
