import type { ProducerEventType } from '@tandem/contracts'
import { sql, type RawBuilder } from 'kysely'
import { ProducerExists, ProducerNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { createKey, digestOf, hintOf } from './keys.ts'
import type { Producer } from './queries.ts'

export const DEFAULT_EVENTS_PER_SECOND = 50
export const MAX_EVENTS_PER_SECOND = 10_000
export const PRODUCER_NAME = '^[a-z][a-z0-9-]{1,39}$'

export interface NewProducer {
  name: string
  eventTypes: ProducerEventType[]
  eventsPerSecond?: number | undefined
}

/** Adds a producer. @returns its first key, which nobody can read again @throws ProducerExists */
export async function addProducer (
  db: Db,
  { name, eventTypes, eventsPerSecond = DEFAULT_EVENTS_PER_SECOND }: NewProducer
) {
  return await db.transaction().execute(async (trx) => {
    const added = await trx.insertInto('producers')
      .values({ name, event_types: [...new Set(eventTypes)], events_per_second: eventsPerSecond })
      .onConflict((conflict) => conflict.column('name').where('revoked_at', 'is', null).doNothing())
      .returning('id').executeTakeFirst()
    if (!added) throw new ProducerExists()
    return { id: added.id, key: await insertKey(trx, added.id) }
  })
}

/**
 * Gives a producer another key. The key that it uses stays valid, the others do not: asked twice, as by a form that is
 * sent again, it would otherwise end what a system depends on. @throws ProducerNotFound
 */
export async function rotateKey (db: Db, id: string) {
  return await db.transaction().execute(async (trx) => {
    await lockProducer(trx, id)
    await revokeKeysExcept(trx, id, sql`last_used_at is null, created_at desc`)
    return { key: await insertKey(trx, id) }
  })
}

/** Ends the key before the newest one: every system has the new one. @throws ProducerNotFound */
export async function revokeOldKey (db: Db, id: string) {
  await db.transaction().execute(async (trx) => {
    await lockProducer(trx, id)
    await revokeKeysExcept(trx, id, sql`created_at desc`)
  })
}

/** @param order of which the first valid key stays */
async function revokeKeysExcept (trx: Trx, id: string, order: RawBuilder<unknown>) {
  await sql`
    update producer_keys set revoked_at = now() where producer_id = ${id} and revoked_at is null and digest not in (
      select digest from producer_keys where producer_id = ${id} and revoked_at is null order by ${order} limit 1
    )`.execute(trx)
}

/**
 * Ends a producer with all its keys, from the next request on: each request reads its key from the database.
 * @throws ProducerNotFound
 */
export async function revokeProducer (db: Db, id: string) {
  await db.transaction().execute(async (trx) => {
    await lockProducer(trx, id)
    await trx.updateTable('producers').where('id', '=', id).set({ revoked_at: sql`now()` }).execute()
    await trx.updateTable('producer_keys').where('producer_id', '=', id).where('revoked_at', 'is', null)
      .set({ revoked_at: sql`now()` }).execute()
  })
}

const USE_STEP_MS = 60_000

/** Stores that a key is used, once a minute. */
export async function markUsed (db: Db, { digest, lastUsedAt }: Producer) {
  if (lastUsedAt && Date.now() - lastUsedAt.getTime() < USE_STEP_MS) return
  await db.updateTable('producer_keys').where('digest', '=', digest).set({ last_used_at: sql`now()` }).execute()
}

async function lockProducer (trx: Trx, id: string) {
  const found = await trx.selectFrom('producers').where('id', '=', id).where('revoked_at', 'is', null)
    .select('id').forUpdate().executeTakeFirst()
  if (!found) throw new ProducerNotFound()
}

async function insertKey (trx: Trx, producerId: string) {
  const key = createKey()
  await trx.insertInto('producer_keys').values({
    digest: digestOf(key),
    producer_id: producerId,
    hint: hintOf(key),
    // Two keys of one transaction would be equally new.
    created_at: sql`clock_timestamp()`
  }).execute()
  return key
}
