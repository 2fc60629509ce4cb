import type { LogData } from '../tables.ts'
import type { Lift } from '../records/actions.ts'

interface Exercise {
  name: string
  sets: { reps: number, weightKg: number }[]
}

/** Names that differ only in case, spacing and hyphens are the same exercise. */
const exerciseKeyOf = (name: string) => name.normalize('NFC').toLowerCase().replace(/[\s\p{Pd}_]+/gu, ' ')

// Converted pounds differ in digits that no plate has.
const roundWeight = (kg: number) => Math.round(kg * 100) / 100

/** The heaviest set of each exercise of a workout. Among equal weights the set with more repetitions wins. */
export function liftsOf (log: { id: string, at: Date, data: LogData }): Omit<Lift, 'isRecord'>[] {
  const heaviest = new Map<string, Omit<Lift, 'isRecord'>>()
  for (const { name, sets } of (log.data['exercises'] ?? []) as Exercise[]) {
    for (const { reps, weightKg: exact } of sets) {
      const weightKg = roundWeight(exact)
      const best = heaviest.get(exerciseKeyOf(name))
      const isHeavier = !best || weightKg > best.weightKg || (weightKg === best.weightKg && reps > best.reps)
      if (isHeavier) {
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
