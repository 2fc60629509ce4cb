import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBrotliDecompress } from 'node:zlib'
import { sql } from 'kysely'
import { throttleLog, type Log } from '@tandem/process-kit'
import type { Db, Trx } from '../tables.ts'

export type SeedLine =
  | ['edition', string]
  | ['country', id: number, code: string, name: string, flag: string, currency: string | null, defaultTimezone: string]
  | [
    'region',
    id: number,
    countryId: number,
    code: string | null,
    name: string,
    nameLocal: string | null,
    timezone: string
  ]
  | [
    'city',
    id: number,
    countryId: number,
    regionId: number | null,
    name: string,
    nameLocal: string | null,
    timezone: string,
    population: number,
    latitude: number,
    longitude: number
  ]

const WORLD = path.join(import.meta.dirname, 'places.ndjson.br')
// A statement has two seconds, and a busy machine can take forty times as long as usual.
const BATCH_SIZE = 2_000
const RETRY_INTERVAL_MS = 2_000

/** Loads the places in the background, however often it takes. Returns a function that stops it. */
export function startLoadingPlaces (db: Db, log: Log, file = WORLD) {
  const stopping = new AbortController()
  const { signal } = stopping
  const warn = throttleLog((error) => log.warn({ err: error }, 'the places could not be loaded yet; retrying'))
  const loading = (async () => {
    for (let isLoaded = false; !isLoaded && !signal.aborted;) {
      isLoaded = await loadPlaces(db, { file, signal }).then(() => true, (error: unknown) => {
        if (!signal.aborted) warn(error)
        return false
      })
      if (!isLoaded) await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {})
    }
  })()
  return async () => {
    stopping.abort()
    await loading
  }
}

/**
 * Loads the countries, regions and cities of the world unless this edition is already loaded: a few seconds, in batches.
 * Processes that load at the same time take turns, and each continues where another one has stopped or died.
 */
export async function loadPlaces (db: Db, { file = WORLD, signal }: { file?: string, signal?: AbortSignal } = {}) {
  const { size } = await stat(file)
  const compressed = createReadStream(file)
  try {
    const lines = createInterface({ input: compressed.pipe(createBrotliDecompress()), crlfDelay: Infinity })
      [Symbol.asyncIterator]()
    const edition = await readEditionLine(lines, file)
    if (await isLoaded(db, edition)) return

    await db.insertInto('places_loads').values({ edition }).onConflict((conflict) => conflict.doNothing()).execute()
    for (let from = 0;;) {
      signal?.throwIfAborted()
      const batch = await readBatch(lines)
      if (batch.length === 0) break
      await insertBatch(db, { edition, from, batch, percent: Math.floor(100 * compressed.bytesRead / size) })
      from += batch.length
    }
    await db.insertInto('places_editions').values({ edition }).onConflict((conflict) => conflict.doNothing()).execute()
  } finally {
    compressed.destroy()
  }
}

async function readEditionLine (lines: AsyncIterator<string>, file: string) {
  const first = JSON.parse((await lines.next()).value ?? 'null') as SeedLine | null
  if (first?.[0] !== 'edition') throw new Error(`${file} does not start with its edition`)
  return first[1]
}

async function isLoaded (db: Db, edition: string) {
  const loaded = await db.selectFrom('places_editions').where('edition', '=', edition).select('edition')
    .executeTakeFirst()
  return loaded !== undefined
}

async function readBatch (lines: AsyncIterator<string>) {
  const batch: SeedLine[] = []
  while (batch.length < BATCH_SIZE) {
    const line = await lines.next()
    if (line.done) break
    batch.push(JSON.parse(line.value) as SeedLine)
  }
  return batch
}

interface Batch {
  edition: string
  /** How many lines precede it. */
  from: number
  batch: SeedLine[]
  percent: number
}

/** Inserts a batch, unless another process has done so. */
async function insertBatch (db: Db, { edition, from, batch, percent }: Batch) {
  await db.transaction().execute(async (trx) => {
    const load = await trx.selectFrom('places_loads').where('edition', '=', edition).where('lines', '=', from)
      .select('edition').forUpdate().executeTakeFirst()
    if (!load) return
    await insertPlaces(trx, batch)
    await trx.updateTable('places_loads').where('edition', '=', edition).set({ lines: from + batch.length, percent })
      .execute()
  })
}

/** Upserts places. Countries must come before their regions, and regions before their cities. */
export async function insertPlaces (trx: Trx, lines: SeedLine[]) {
  const rows = (kind: SeedLine[0]) => JSON.stringify(lines.filter((line) => line[0] === kind))
  await sql`
    insert into countries (id, code, name, flag, currency, default_timezone)
    select (row->>1)::integer, row->>2, row->>3, row->>4, row->>5, row->>6
    from jsonb_array_elements(${rows('country')}::jsonb) row
    on conflict (id) do update set code = excluded.code, name = excluded.name, flag = excluded.flag,
      currency = excluded.currency, default_timezone = excluded.default_timezone`.execute(trx)
  await sql`
    insert into regions (id, country_id, code, name, name_local, timezone)
    select (row->>1)::integer, (row->>2)::integer, row->>3, row->>4, row->>5, row->>6
    from jsonb_array_elements(${rows('region')}::jsonb) row
    on conflict (id) do update set code = excluded.code, name = excluded.name,
      name_local = excluded.name_local, timezone = excluded.timezone`.execute(trx)
  await sql`
    insert into cities (id, country_id, region_id, name, name_local, timezone, population, latitude, longitude)
    select (row->>1)::integer, (row->>2)::integer, (row->>3)::integer, row->>4, row->>5, row->>6,
      (row->>7)::integer, (row->>8)::double precision, (row->>9)::double precision
    from jsonb_array_elements(${rows('city')}::jsonb) row
    on conflict (id) do update set region_id = excluded.region_id, name = excluded.name,
      name_local = excluded.name_local, timezone = excluded.timezone, population = excluded.population,
      latitude = excluded.latitude, longitude = excluded.longitude`.execute(trx)
}
