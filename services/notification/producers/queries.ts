import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { digestOf } from './keys.ts'

/** Who sends events. */
export interface Producer {
  id: string
  eventTypes: string[]
  eventsPerSecond: number
  /** Of the key. */
  digest: Buffer
  lastUsedAt: Date | null
}

/** The producer of a key that is not revoked. */
export async function findProducer (db: Db, key: string): Promise<Producer | undefined> {
  return await db.selectFrom('producer_keys')
    .innerJoin('producers', 'producers.id', 'producer_keys.producer_id')
    .where('digest', '=', digestOf(key))
    .where('producer_keys.revoked_at', 'is', null)
    .select([
      'producers.id',
      'event_types as eventTypes',
      'events_per_second as eventsPerSecond',
      'digest',
      'last_used_at as lastUsedAt'
    ])
    .executeTakeFirst()
}

/** The producer of this name that is not revoked. */
export const findProducerByName = async (db: Db, name: string) =>
  await db.selectFrom('producers').where('name', '=', name).where('revoked_at', 'is', null).select('id')
    .executeTakeFirst()

interface Key {
  hint: string
  createdAt: string
  lastUsedAt: string | null
  isRevoked: boolean
}

/** Every producer, the newest first, with its last five keys. */
export const listProducers = async (db: Db) =>
  await db.selectFrom('producers')
    .select([
      'id',
      'name',
      'event_types as eventTypes',
      'events_per_second as eventsPerSecond',
      'dropped_count as droppedCount',
      'created_at as createdAt',
      'revoked_at as revokedAt',
      sql<Date | null>`(select max(last_used_at) from producer_keys where producer_id = producers.id)`.as('lastUsedAt'),
      sql<Key[]>`(
        select coalesce(json_agg(json_build_object('hint', hint, 'createdAt', created_at, 'lastUsedAt', last_used_at,
          'isRevoked', revoked_at is not null)), '[]')
        from (
          select * from producer_keys where producer_id = producers.id order by created_at desc limit 5
        ) newest
      )`.as('keys')
    ])
    .orderBy('id', 'desc').limit(200).execute()
