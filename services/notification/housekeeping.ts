import { sql, type RawBuilder } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { lockInboxes } from './notifications/removal.ts'
import type { Db } from './tables.ts'
import { deleteExpiredLimits } from './trusted-contact/limits.ts'

const INTERVAL_MS = 10 * 60 * 1_000
const CHUNK_SIZE = 1_000
const CHUNK = sql.lit(CHUNK_SIZE)

/** Deletes expired rows, now and every ten minutes. */
export const startHousekeeping = ({ db }: Deps, log: Log) =>
  runPeriodically(async () => await deleteExpired(db), { intervalMs: INTERVAL_MS, log })

export async function deleteExpired (db: Db) {
  const deletion = (statement: RawBuilder<unknown>) => async () => await statement.execute(db)
  const inChunks = (statement: RawBuilder<unknown>) => async () => {
    while (Number((await statement.execute(db)).numAffectedRows ?? 0) === CHUNK_SIZE);
  }
  await runSteps({
    async notifications () {
      while (await deleteExpiredNotifications(db) === CHUNK_SIZE);
    },
    // Their ids are UUIDv7, made in time order, so the primary key serves as an index on time.
    deliveries: inChunks(sql`
      delete from deliveries where id in (
        select id from deliveries
        where id < (select uuidv7(interval '-30 days')) and status not in ('pending', 'held')
        order by id limit ${CHUNK}
      )`),
    // FCM expires tokens that were inactive for this long.
    devices: inChunks(sql`
      delete from devices where id in (
        select id from devices where last_used_at < now() - interval '270 days' limit ${CHUNK}
      )`),
    likes: inChunks(sql`
      delete from post_likes where (post_id, liked_by) in (
        select post_id, liked_by from post_likes where changed_at < now() - interval '90 days' limit ${CHUNK}
      )`),
    digests: inChunks(sql`
      delete from like_digests where post_id in (
        select post_id from like_digests where ends_at < now() - interval '1 day' limit ${CHUNK}
      )`),
    async frames () {
      while (await deleteExpiredFrames(db) === CHUNK_SIZE);
    },
    'ended sessions': deletion(sql`delete from ended_sessions where ended_at < now() - interval '1 day'`),
    // Twice as long as an event can be delivered late.
    withdrawals: inChunks(sql`
      delete from withdrawals where ctid = any(array(
        select ctid from withdrawals where withdrawn_at < now() - interval '30 days' limit ${CHUNK}
      ))`),
    rewritings: deletion(sql`delete from rewritings where rewritten_at < now() - interval '30 days'`),
    blocks: deletion(sql`delete from blocks where lifted and changed_at < now() - interval '30 days'`),
    broadcasts: deletion(sql`delete from broadcasts where finished_at < now() - interval '90 days'`),
    'ids of producer events': inChunks(sql`
      delete from producer_event_ids where ctid = any(array(
        select ctid from producer_event_ids where received_at < now() - interval '7 days' limit ${CHUNK}
      ))`),
    bookings: inChunks(sql`
      delete from bookings where ctid = any(array(
        select ctid from bookings where coalesce(ends_at, changed_at) < now() - interval '30 days' limit ${CHUNK}
      ))`),
    // With their deliveries. They can be replayed until then.
    webhooks: inChunks(sql`
      delete from webhook_messages where id = any(array(
        select id from webhook_messages where created_at < now() - interval '14 days' order by created_at limit ${CHUNK}
      ))`),
    limits: async () => await deleteExpiredLimits(db),
    'mails of meetings': deletion(sql`delete from meeting_mails where created_at < now() - interval '30 days'`),
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
