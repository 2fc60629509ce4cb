import { createInvalidCursor, type Page } from '@tandem/http-kit'
import { ExerciseNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { exerciseKeyOf, findInLibrary, libraryExercises, type LibraryExercise } from './library.ts'
import { libraryNameIn } from './names.ts'

/** An exercise of the library, or one that the account added, of which only the name is known. */
interface Exercise extends Omit<LibraryExercise, 'key' | 'category' | 'level'> {
  category: string | null
  level: string | null
  isCustom: boolean
}

/** With the names by which it is found. */
interface ListedExercise extends Exercise {
  searchKeys: string[]
}

/** Words are found without their accents too. */
const searchKeyOf = (name: string) => exerciseKeyOf(name).normalize('NFD').replace(/\p{M}/gu, '')

function ofLibrary (exercise: LibraryExercise, language: string): ListedExercise {
  const name = libraryNameIn(language, exercise)
  return { ...exercise, name, isCustom: false, searchKeys: [name, exercise.name].map(searchKeyOf) }
}

const listedIn = new Map<string, ListedExercise[]>()

const listLibrary = (language: string) =>
  listedIn.getOrInsertComputed(language, () => libraryExercises.map((exercise) => ofLibrary(exercise, language)))

const customExercise = ({ id, name }: { id: string, name: string }): ListedExercise => ({
  id,
  name,
  searchKeys: [searchKeyOf(name)],
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
 * Exercises of the library and of the account, by their names in the language, those that begin with `query` first. All
 * its words are in this name, or in the English one.
 * @returns at most `limit` + 1 of those after the one with the id `cursor`
 * @throws ValidationError if `cursor` is no exercise of the list
 */
export async function listExercises (
  db: Db,
  accountId: string,
  { query = '', muscle, equipment, category, cursor, limit, language }: Filters & { language: string }
): Promise<Exercise[]> {
  const start = searchKeyOf(query)
  const words = start.split(' ')
  const custom = await listCustomExercises(db, accountId)
  const startsWith = ({ searchKeys }: ListedExercise) => searchKeys.some((key) => key.startsWith(start))
  const nameKeyOf = ({ searchKeys: [key = ''] }: ListedExercise) => key
  const found = [...listLibrary(language), ...custom.map(customExercise)].filter((exercise) =>
    exercise.searchKeys.some((key) => words.every((word) => key.includes(word))) &&
    (!muscle || exercise.primaryMuscles.includes(muscle) || exercise.secondaryMuscles.includes(muscle)) &&
    (!equipment || exercise.equipment === equipment) &&
    (!category || exercise.category === category)
  ).sort((a, b) => Number(startsWith(b)) - Number(startsWith(a)) || (nameKeyOf(a) < nameKeyOf(b) ? -1 : 1))
  const previous = cursor === undefined ? -1 : found.findIndex(({ id }) => id === cursor)
  if (cursor !== undefined && previous === -1) throw createInvalidCursor()
  return found.slice(previous + 1, previous + 2 + limit)
}

/** @throws ExerciseNotFound */
export async function readExercise (
  db: Db,
  accountId: string,
  { id, language }: { id: string, language: string }
): Promise<Exercise> {
  const known = findInLibrary(id)
  if (known) return ofLibrary(known, language)
  const custom = (await listCustomExercises(db, accountId)).find((exercise) => exercise.id === id)
  if (!custom) throw new ExerciseNotFound()
  return customExercise(custom)
}

/** At most MAX_CUSTOM_EXERCISES. */
export async function listCustomExercises (db: Db, accountId: string) {
  return await db.selectFrom('custom_exercises').where('account_id', '=', accountId).where('deleted_at', 'is', null)
    .select(['id', 'key', 'name'])
    .execute()
}

/** The names of all that logs can name by id: deleted ones too, or an edit or a late log would be of another exercise. */
export async function readCustomNames (db: Db, accountId: string) {
  const rows = await db.selectFrom('custom_exercises').where('account_id', '=', accountId).select(['id', 'name'])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
