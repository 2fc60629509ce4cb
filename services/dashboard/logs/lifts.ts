import { exerciseKeyOf, findInLibrary } from '../exercises/library.ts'
import type { LogData } from '../tables.ts'
import type { Lift } from '../records/actions.ts'

interface Exercise {
  exerciseId?: string
  name: string
  sets: { reps: number, weightKg: number }[]
}

/** The names of exercises that the account added, by id. */
type CustomNames = ReadonlyMap<string, string>

// An id names the exercise, whatever the client calls it.
const keyOf = ({ exerciseId = '', name }: Exercise, customNames: CustomNames) =>
  exerciseKeyOf(findInLibrary(exerciseId)?.name ?? customNames.get(exerciseId) ?? name)

const exercisesOf = ({ data }: { data: LogData }) => (data['exercises'] ?? []) as Exercise[]

/** Whether a workout names an exercise by an id that is not of the library. */
export const hasCustomExercise = (log: { data: LogData }) =>
  exercisesOf(log).some(({ exerciseId }) => exerciseId !== undefined && !findInLibrary(exerciseId))

// Converted pounds differ in digits that no plate has.
const roundWeight = (kg: number) => Math.round(kg * 100) / 100

/** The heaviest set of each exercise of a workout. Among equal weights the set with more repetitions wins. */
export function liftsOf (
  log: { id: string, at: Date, data: LogData },
  customNames: CustomNames
): Omit<Lift, 'isRecord'>[] {
  const heaviest = new Map<string, Omit<Lift, 'isRecord'>>()
  for (const exercise of exercisesOf(log)) {
    const key = keyOf(exercise, customNames)
    for (const { reps, weightKg: exact } of exercise.sets) {
      const weightKg = roundWeight(exact)
      const best = heaviest.get(key)
      const isHeavier = !best || weightKg > best.weightKg || (weightKg === best.weightKg && reps > best.reps)
      if (isHeavier) {
        heaviest.set(key, {
          logId: log.id,
          exerciseKey: key,
          exercise: exercise.name,
          weightKg,
          reps,
          at: log.at
        })
      }
    }
  }
  return [...heaviest.values()]
}
