import { stat } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import type { Db, Trx } from '../tables.ts'
import { toPlace, type Place } from './fitness.ts'
import { readRecords } from './records.ts'

interface Counts {
  /** What the file has been read to: lines or rows. */
  records: number
  /** Those of them where people train. */
  places: number
}

interface Options {
  /** Also deletes the places of the same source that the file does not have. */
  deletesMissing?: boolean
  /** Is called and awaited after each batch. */
  onProgress?: (counts: Counts & { progress: number }) => unknown
}

/**
 * Imports the gyms of a file, and then deletes the places of people. A place that is there already is replaced. An
 * import that was stopped goes on where it was.
 * @returns also how many places it has deleted
 * @throws if another process imports the same file
 */
export async function importPlaces (
  db: Db,
  file: string,
  { deletesMissing = false, onProgress = () => {} }: Options = {}
): Promise<Counts & { deleted: number }> {
  const name = await nameOf(file)
  const { startedAt, ...counts } = await startOrResume(db, name)
  for await (const { records, progress } of readRecords(file, counts.records)) {
    const places = records.flatMap((record) => (record && toPlace(record)) ?? [])
    await db.transaction().execute(async (trx) => {
      await advance(trx, name, { from: counts.records, records: records.length, places: places.length })
      await upsertPlaces(trx, places, startedAt)
    })
    counts.records += records.length
    counts.places += places.length
    await onProgress({ ...counts, progress })
  }
  const deleted = await db.transaction().execute(async (trx) => {
    await trx.updateTable('place_imports').where('file', '=', name).set({ finished_at: sql`now()` }).execute()
    if (counts.places === 0) return 0
    await trx.deleteFrom('places').where('source', '=', 'PEOPLE').where('removed_at', 'is', null).execute()
    return deletesMissing ? await deleteMissing(trx, startedAt) : 0
  })
  return { ...counts, deleted }
}

/** Another version of a file has another size, or was changed at another time. */
async function nameOf (file: string) {
  const { size, mtime } = await stat(file)
  return `${path.basename(file)}, ${size} bytes, ${mtime.toISOString()}`
}

async function startOrResume (db: Db, file: string) {
  await db.deleteFrom('place_imports').where('file', '=', file).where('finished_at', 'is not', null).execute()
  await db.insertInto('place_imports').values({ file, finished_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return await db.selectFrom('place_imports').where('file', '=', file).select([
    'records',
    'places',
    'started_at as startedAt'
  ]).executeTakeFirstOrThrow()
}

async function advance (trx: Trx, file: string, batch: Counts & { from: number }) {
  const advanced = await trx.updateTable('place_imports')
    .where('file', '=', file)
    .where('records', '=', batch.from)
    .set({ records: sql`records + ${batch.records}`, places: sql`places + ${batch.places}` })
    .returning('file')
    .executeTakeFirst()
  if (!advanced) throw new Error('Another process imports this file')
}

async function upsertPlaces (trx: Trx, places: Place[], startedAt: Date) {
  if (places.length === 0) return
  // A statement cannot change a row twice.
  const byId = new Map(places.map((place) => [place.id, { ...place, imported_at: startedAt }]))
  await trx.insertInto('places').values([...byId.values()])
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(({ ref }) => ({
        name: ref('excluded.name'),
        name_key: ref('excluded.name_key'),
        city: ref('excluded.city'),
        chain_id: ref('excluded.chain_id'),
        latitude: ref('excluded.latitude'),
        longitude: ref('excluded.longitude'),
        imported_at: ref('excluded.imported_at')
      })).where('places.removed_at', 'is', null)
    )
    .execute()
}

async function deleteMissing (trx: Trx, startedAt: Date) {
  const { numDeletedRows } = await trx.deleteFrom('places')
    .where('removed_at', 'is', null)
    .where('source', 'in', trx.selectFrom('places').where('imported_at', '=', startedAt).select('source'))
    .where((place) => place.or([place('imported_at', 'is', null), place('imported_at', '<', startedAt)]))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
