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

/**
 * Imports the gyms of a file, and then deletes the places of people. A place that is there already is replaced. An
 * import that was stopped goes on where it was.
 * @param onProgress is called and awaited after each batch
 * @throws if another process imports the same file
 */
export async function importPlaces (
  db: Db,
  file: string,
  onProgress: (counts: Counts & { progress: number }) => unknown = () => {}
): Promise<Counts> {
  const name = await nameOf(file)
  const counts = await startOrResume(db, name)
  for await (const { records, progress } of readRecords(file, counts.records)) {
    const places = records.flatMap((record) => (record && toPlace(record)) ?? [])
    await db.transaction().execute(async (trx) => {
      await advance(trx, name, { from: counts.records, records: records.length, places: places.length })
      await upsertPlaces(trx, places)
    })
    counts.records += records.length
    counts.places += places.length
    await onProgress({ ...counts, progress })
  }
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('place_imports').where('file', '=', name).set({ finished_at: sql`now()` }).execute()
    if (counts.places > 0) await trx.deleteFrom('places').where('source', '=', 'PEOPLE').execute()
  })
  return counts
}

/** Another version of a file has another size, or was changed at another time. */
async function nameOf (file: string) {
  const { size, mtime } = await stat(file)
  return `${path.basename(file)}, ${size} bytes, ${mtime.toISOString()}`
}

async function startOrResume (db: Db, file: string): Promise<Counts> {
  await db.deleteFrom('place_imports').where('file', '=', file).where('finished_at', 'is not', null).execute()
  await db.insertInto('place_imports').values({ file, finished_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return await db.selectFrom('place_imports').where('file', '=', file).select(['records', 'places'])
    .executeTakeFirstOrThrow()
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

async function upsertPlaces (trx: Trx, places: Place[]) {
  if (places.length === 0) return
  // A statement cannot change a row twice.
  const byId = new Map(places.map((place) => [place.id, place]))
  await trx.insertInto('places').values([...byId.values()])
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(({ ref }) => ({
        name: ref('excluded.name'),
        name_key: ref('excluded.name_key'),
        city: ref('excluded.city'),
        chain_id: ref('excluded.chain_id'),
        latitude: ref('excluded.latitude'),
        longitude: ref('excluded.longitude')
      }))
    )
    .execute()
}
