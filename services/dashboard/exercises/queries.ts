import { createInvalidCursor, type Page } from '@tandem/http-kit'
import { ExerciseNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { exerciseKeyOf, findInLibrary, libraryExercises, type LibraryExercise } from './library.ts'

/** An exercise of the library, or one that the account added, of which only the name is known. */
export interface Exercise extends Omit<LibraryExercise, 'category' | 'level'> {
  category: string | null
  level: string | null
  isCustom: boolean
}

const ofLibrary = (exercise: LibraryExercise): Exercise => ({ ...exercise, isCustom: false })

const customExercise = ({ id, key, name }: { id: string, key: string, name: string }): Exercise => ({
  id,
  key,
  name,
  category: null,
  level: null,
  force: null,
  mechanic: null,
  equipment: null,
  primaryMuscles: [],
  secondaryMuscles: [],
  isCustom: true
})

interface Filters extends Page {
  query?: string | undefined
  muscle?: string | undefined
  equipment?: string | undefined
  category?: string | undefined
}

/**
 * Exercises of the library and of the account, by name, those that begin with `query` first. All its words are in the
 * name.
 * @returns at most `limit` + 1 of those after the one with the id `cursor`
 * @throws ValidationError if `cursor` is no exercise of the list
 */
export async function listExercises (db: Db, accountId: string, filters: Filters): Promise<Exercise[]> {
  const { query = '', muscle, equipment, category, cursor, limit } = filters
  const start = exerciseKeyOf(query)
  const words = start.split(' ')
  const custom = await listCustomExercises(db, accountId)
  const found = [...libraryExercises.map(ofLibrary), ...custom.map(customExercise)].filter((exercise) =>
    words.every((word) => exercise.key.includes(word)) &&
    (!muscle || exercise.primaryMuscles.includes(muscle) || exercise.secondaryMuscles.includes(muscle)) &&
    (!equipment || exercise.equipment === equipment) &&
    (!category || exercise.category === category)
  ).sort((a, b) => Number(b.key.startsWith(start)) - Number(a.key.startsWith(start)) || (a.key < b.key ? -1 : 1))
  const previous = cursor === undefined ? -1 : found.findIndex(({ id }) => id === cursor)
  if (cursor !== undefined && previous === -1) throw createInvalidCursor()
  return found.slice(previous + 1, previous + 2 + limit)
}

/** @throws ExerciseNotFound */
export async function readExercise (db: Db, accountId: string, id: string): Promise<Exercise> {
  const known = findInLibrary(id)
  if (known) return ofLibrary(known)
  const custom = (await listCustomExercises(db, accountId)).find((exercise) => exercise.id === id)
  if (!custom) throw new ExerciseNotFound()
  return customExercise(custom)
}

/** At most MAX_CUSTOM_EXERCISES. */
export async function listCustomExercises (db: Db, accountId: string) {
  return await db.selectFrom('custom_exercises').where('account_id', '=', accountId).select(['id', 'key', 'name'])
    .execute()
}
