import { readExerciseNames, type ExerciseNames } from '@tandem/brand-kit'
import { exerciseKeyOf, findInLibrary, libraryExercises, libraryIds } from './library.ts'

let names: ExerciseNames | undefined

/** The names of this process's brand, read once. @throws ConfigError */
export const readNames = () => names ??= readExerciseNames(libraryIds)

/** The name of an exercise of the library in a language of the brand; the English one if it has no other. */
export const libraryNameIn = (language: string, { id, name }: { id: string, name: string }) =>
  readNames()[language]?.[id] ?? name

/** The name to show of an exercise: that of the library in the language, or its own if it is none of the library. */
export function exerciseNameIn (language: string, { exerciseId, name }: { exerciseId: string | null, name: string }) {
  const known = exerciseId === null ? undefined : findInLibrary(exerciseId)
  return known ? libraryNameIn(language, known) : name
}

const idsByKey = new Map<string, Map<string, string>>()

/** The exercise of the library with this name in the language, however it is written. */
export function findInLibraryByNameIn (language: string, name: string) {
  const ids = idsByKey.getOrInsertComputed(
    language,
    () => new Map(libraryExercises.map((exercise) => [exerciseKeyOf(libraryNameIn(language, exercise)), exercise.id]))
  )
  return findInLibrary(ids.get(exerciseKeyOf(name)) ?? '')
}
