import { sql, type RawBuilder } from 'kysely'
import { deleteExpiredIdempotencyKeys, deleteInChunks } from '@tandem/database-kit'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { lockInboxes } from './notifications/removal.ts'
import type { Db, Tables } from './tables.ts'
import { deleteExpiredLimits } from './trusted-contact/limits.ts'

const INTERVAL_MS = 10 * 60 * 1_000
const CHUNK_SIZE = 1_000
const CHUNK = sql.lit(CHUNK_SIZE)

/** Deletes expired rows, now and every ten minutes. */
export const startHousekeeping = ({ db }: Deps, log: Log) =>
  runPeriodically(async () => await deleteExpired(db), { intervalMs: INTERVAL_MS, log })

export async function deleteExpired (db: Db) {
  const deletion = (table: keyof Tables, which: RawBuilder<unknown>) => async () =>
    await deleteInChunks(db, table, which)
  await runSteps({
    async notifications () {
      while (await deleteExpiredNotifications(db) === CHUNK_SIZE);
    },
    // Their ids are UUIDv7, made in time order, so the primary key serves as an index on time.
    deliveries: deletion(
      'deliveries',
      sql`id < (select uuidv7(interval '-30 days')) and status not in ('pending', 'held') order by id`
    ),
    // FCM expires tokens that were inactive for this long.
    devices: deletion('devices', sql`last_used_at < now() - interval '270 days' order by last_used_at`),
    likes: deletion('post_likes', sql`changed_at < now() - interval '90 days' order by changed_at`),
    digests: deletion('like_digests', sql`ends_at < now() - interval '1 day' order by ends_at`),
    async frames () {
      while (await deleteExpiredFrames(db) === CHUNK_SIZE);
    },
    'ended sessions': deletion('ended_sessions', sql`ended_at < now() - interval '1 day' order by ended_at`),
    // Twice as long as an event can be delivered late.
    withdrawals: deletion('withdrawals', sql`withdrawn_at < now() - interval '30 days' order by withdrawn_at`),
    rewritings: deletion('rewritings', sql`rewritten_at < now() - interval '30 days' order by rewritten_at`),
    blocks: deletion('blocks', sql`lifted and changed_at < now() - interval '30 days'`),
    broadcasts: deletion('broadcasts', sql`finished_at < now() - interval '90 days'`),
    'ids of producer events': deletion(
      'producer_event_ids',
      sql`received_at < now() - interval '7 days' order by received_at`
    ),
    bookings: deletion(
      'bookings',
      sql`coalesce(ends_at, changed_at) < now() - interval '30 days' order by coalesce(ends_at, changed_at)`
    ),
    // With their deliveries. They can be replayed until then.
    webhooks: deletion('webhook_messages', sql`created_at < now() - interval '14 days' order by created_at`),
    limits: async () => await deleteExpiredLimits(db),
    'mails of meetings': deletion('meeting_mails', sql`created_at < now() - interval '30 days' order by created_at`),
    'idempotency keys': async () => await deleteExpiredIdempotencyKeys(db)
  })
}

/** Deletes frames after a day. A position before them can not be resumed any more. */
async function deleteExpiredFrames (db: Db) {
  const { rows } = await sql<{ count: number }>`
    with deleted as (
      delete from realtime_frames where (account_id, seq) in (
        select account_id, seq from realtime_frames where at < now() - interval '1 day' order by at limit ${CHUNK}
      )
      returning account_id, seq
    ), newest as materialized (
      select account_id, max(seq) as seq from deleted group by account_id
    ), locked as materialized (
      select account_id from inboxes where account_id in (select account_id from newest)
      order by account_id for update
    ), moved as (
      update inboxes set realtime_deleted_seq = greatest(realtime_deleted_seq, newest.seq)
      from newest join locked using (account_id) where inboxes.account_id = newest.account_id
    )
    select count(*)::integer as count from deleted`.execute(db)
  return rows[0]?.count ?? 0
}

/** Deletes notifications after 90 days: far longer than their events can be redelivered. */
async function deleteExpiredNotifications (db: Db) {
  return await db.transaction().execute(async (trx) => {
    const { rows: old } = await sql<{ id: string, accountId: string }>`
      select id, account_id as "accountId" from notifications
      where id < (select uuidv7(interval '-90 days'))
      order by id limit ${CHUNK}`.execute(trx)
    await lockInboxes(trx, [...new Set(old.map((row) => row.accountId))])
    await sql`delete from notifications where id = any(${old.map((row) => row.id)}::uuid[])`.execute(trx)
    return old.length
  })
}
