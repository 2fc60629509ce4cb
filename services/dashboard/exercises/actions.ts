import { sql } from 'kysely'
import { ValidationError } from '@tandem/http-kit'
import { ExerciseNotFound, TooManyExercises } from '../errors.ts'
import { lockAccount } from '../progress/actions.ts'
import type { Db, Trx } from '../tables.ts'
import { exerciseKeyOf, findInLibrary, findInLibraryByName } from './library.ts'
import { findInLibraryByNameIn } from './names.ts'
import { listCustomExercises } from './queries.ts'

const MAX_CUSTOM_EXERCISES = 300
const MAX_DELETED_EXERCISES = 300

/** What a client knows of an exercise: its id, or a name, which may be new. */
export type ExerciseReference = { exerciseId: string } | { exerciseId?: undefined, name: string }

/**
 * Finds exercises by id or name, in English or `language`, and adds those with new names to the account, whose lock `trx`
 * holds.
 * @returns the id and the stored name of each reference, in their order; in the library, names are English
 * @throws ValidationError if there is no exercise with an id, TooManyExercises
 */
export async function findOrAddExercises (
  trx: Trx,
  accountId: string,
  { references, language }: { references: ExerciseReference[], language: string }
) {
  const custom = await listCustomExercises(trx, accountId)
  const customByKey = new Map(custom.map((exercise) => [exercise.key, exercise]))
  const findByName = (name: string) =>
    findInLibraryByName(name) ?? customByKey.get(exerciseKeyOf(name)) ?? findInLibraryByNameIn(language, name)
  const newNames = new Map<string, string>()
  for (const reference of references) {
    if (reference.exerciseId !== undefined || findByName(reference.name)) continue
    const key = exerciseKeyOf(reference.name)
    newNames.set(key, newNames.get(key) ?? reference.name)
  }
  for (const exercise of await addCustomExercises(trx, accountId, custom.length, newNames)) {
    customByKey.set(exercise.key, exercise)
  }
  return references.map((reference) => {
    const found = reference.exerciseId === undefined
      ? findByName(reference.name)
      : findInLibrary(reference.exerciseId) ?? custom.find(({ id }) => id === reference.exerciseId)
    if (!found) {
      throw new ValidationError('exerciseIdMustBeExerciseOfLibraryOr', ['exerciseId'])
    }
    return { id: found.id, name: found.name }
  })
}

async function addCustomExercises (trx: Trx, accountId: string, existing: number, newNames: Map<string, string>) {
  if (newNames.size === 0) return []
  if (existing + newNames.size > MAX_CUSTOM_EXERCISES) throw new TooManyExercises()
  return await trx.insertInto('custom_exercises')
    .values([...newNames].map(([key, name]) => ({ account_id: accountId, key, name })))
    // One that was deleted comes back, with its id.
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'key']).doUpdateSet(({ ref }) => ({
        name: ref('excluded.name'),
        deleted_at: null
      }))
    )
    .returning(['id', 'key', 'name'])
    .execute()
}

/** Adds an exercise, unless the library or the account has one with this name. Returns its id. */
export async function addExercise (db: Db, accountId: string, { name, language }: { name: string, language: string }) {
  return await db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const [exercise] = await findOrAddExercises(trx, accountId, { references: [{ name }], language })
    if (!exercise) throw new ExerciseNotFound()
    return exercise.id
  })
}

/** Deletes an exercise that the account added. Programs, logs and records keep its name, also for logs that come later. */
export async function deleteExercise (db: Db, accountId: string, id: string) {
  await db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const deleted = await trx.updateTable('custom_exercises').set({ deleted_at: sql`now()` })
      .where('account_id', '=', accountId).where('id', '=', id).where('deleted_at', 'is', null)
      .returning('id').executeTakeFirst()
    if (!deleted) throw new ExerciseNotFound()
    await forgetOldest(trx, accountId)
    const ownDays = trx.selectFrom('program_days').innerJoin('programs', 'programs.id', 'program_id')
      .where('account_id', '=', accountId).select('program_days.id')
    await trx.updateTable('program_exercises').set({ exercise_id: null })
      .where('program_day_id', 'in', ownDays).where('exercise_id', '=', id)
      .execute()
  })
}

/** Deletes for good what was deleted before the newest of them. */
async function forgetOldest (trx: Trx, accountId: string) {
  const oldest = trx.selectFrom('custom_exercises').where('account_id', '=', accountId)
    .where('deleted_at', 'is not', null)
    .select('id').orderBy('deleted_at', 'desc').orderBy('id', 'desc').offset(MAX_DELETED_EXERCISES)
  await trx.deleteFrom('custom_exercises').where('account_id', '=', accountId).where('id', 'in', oldest).execute()
}
