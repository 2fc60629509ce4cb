import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { ConfigError } from '@tandem/process-kit'
import { BUILT_IN, readTexts } from './brand.ts'

const MAX_LENGTH = 100

/** Names of exercises by locale, and in it by the id of the exercise. */
export type ExerciseNames = Record<string, Record<string, string>>

/**
 * Reads how exercises are named in other languages: the names of `folder` before the built-in ones. A language can name
 * some exercises, or none.
 * @param ids of all exercises
 * @throws ConfigError that names each file, id and fault, one per line
 */
export function loadExerciseNames (ids: readonly string[], folder = BUILT_IN): ExerciseNames {
  const known = new Set(ids)
  const faults: string[] = []
  const names: ExerciseNames = {}
  for (const locale of new Set([BUILT_IN, folder].flatMap(listLocales))) {
    const file = `texts/exercises/${locale}.json`
    const own = folder === BUILT_IN ? {} : readTexts(folder, file, faults)
    names[locale] = { ...readTexts(BUILT_IN, file, faults), ...own }
    for (const [id, name] of Object.entries<unknown>(names[locale])) {
      if (!known.has(id)) faults.push(`${file}: there is no exercise ${id}`)
      if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_LENGTH) {
        faults.push(`${file}: ${id} must be a text of 1 to ${MAX_LENGTH} characters`)
      }
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return names
}

function listLocales (folder: string) {
  const inner = path.join(folder, 'texts/exercises')
  // A ConfigMap has no folders: there, `texts.exercises.es.json` is texts/exercises/es.json.
  return [
    ...readdirSync(folder),
    ...existsSync(inner) ? readdirSync(inner).map((name) => `texts.exercises.${name}`) : []
  ]
    .flatMap((name) => /^texts\.exercises\.([\w-]+)\.json$/.exec(name)?.[1] ?? [])
}
