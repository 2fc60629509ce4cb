import library from './library.json' with { type: 'json' }

/** An exercise of the library; source and licence are in NOTICE.md. */
export interface LibraryExercise {
  id: string
  name: string
  /** What names of the same exercise have in common. */
  key: string
  category: string
  level: string
  force: string | null
  mechanic: string | null
  equipment: string | null
  primaryMuscles: string[]
  secondaryMuscles: string[]
}

/** Names that differ only in case, spacing and hyphens are the same exercise. */
export const exerciseKeyOf = (name: string) => name.normalize('NFC').toLowerCase().replace(/[\s\p{Pd}_]+/gu, ' ')

export const libraryExercises: readonly LibraryExercise[] = library.map((exercise) => ({
  ...exercise,
  key: exerciseKeyOf(exercise.name)
}))
export const libraryIds = libraryExercises.map(({ id }) => id)
const byId = new Map(libraryExercises.map((exercise) => [exercise.id, exercise]))
const byKey = new Map(libraryExercises.map((exercise) => [exercise.key, exercise]))

export const findInLibrary = (id: string) => byId.get(id)

/** The exercise of the library with this name, however it is written. */
export const findInLibraryByName = (name: string) => byKey.get(exerciseKeyOf(name))

const valuesOf = (field: 'category' | 'equipment') =>
  [...new Set(libraryExercises.flatMap((exercise) => exercise[field] ?? []))].sort()

export const categories = valuesOf('category')
export const equipments = valuesOf('equipment')
export const muscles = [...new Set(libraryExercises.flatMap(({ primaryMuscles }) => primaryMuscles))].sort()
