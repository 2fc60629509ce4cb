import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/service-kit'
import { lockInboxes } from './inbox/withdrawals.ts'
import type { Db } from './tables.ts'

const TEN_MINUTES = 10 * 60 * 1_000
const CHUNK = 1_000

/** Deletes what no longer matters to anyone, now and every ten minutes. */
export const startHousekeeping = (db: Db, log: Log) => runPeriodically(async () => await clearOld(db), { intervalMs: TEN_MINUTES, log })

export async function clearOld (db: Db) {
  while (await clearNotices(db) === CHUNK);
  // Their ids are UUIDv7, made in time order, so the primary key serves as an index on time.
  await inChunks(() => sql`
    delete from deliveries where id in (
      select id from deliveries where id < (select uuidv7(interval '-30 days')) and status not in ('pending', 'held') order by id limit ${sql.lit(CHUNK)}
    )`.execute(db))
  // FCM itself forgets tokens that were silent for so long.
  await inChunks(() => sql`
    delete from devices where id in (select id from devices where last_used_at < now() - interval '270 days' limit ${sql.lit(CHUNK)})`.execute(db))
  await inChunks(() => sql`
    delete from post_likes where (post_id, liked_by) in (
      select post_id, liked_by from post_likes where changed_at < now() - interval '90 days' limit ${sql.lit(CHUNK)}
    )`.execute(db))
  await inChunks(() => sql`
    delete from like_gatherings where post_id in (select post_id from like_gatherings where ends_at < now() - interval '1 day' limit ${sql.lit(CHUNK)})`.execute(db))
  await sql`delete from ended_sessions where ended_at < now() - interval '1 day'`.execute(db)
  await sql`delete from ended_matches where ended_at < now() - interval '90 days'`.execute(db)
  await inChunks(() => sql`
    delete from gone_texts where id in (select id from gone_texts where gone_at < now() - interval '90 days' limit ${sql.lit(CHUNK)})`.execute(db))
  await sql`delete from blocks where lifted and changed_at < now() - interval '30 days'`.execute(db)
  await sql`delete from broadcasts where finished_at < now() - interval '90 days'`.execute(db)
  await deleteExpiredIdempotencyKeys(db)
}

/** Notices live for 90 days, far longer than their causes may be heard again. */
async function clearNotices (db: Db) {
  return await db.transaction().execute(async (trx) => {
    const { rows: old } = await sql<{ id: string, accountId: string }>`
      select id, account_id as "accountId" from notices where id < (select uuidv7(interval '-90 days')) order by id limit ${sql.lit(CHUNK)}`.execute(trx)
    await lockInboxes(trx, [...new Set(old.map((notice) => notice.accountId))])
    await sql`
      with gone as (
        delete from notices where id = any(${old.map((notice) => notice.id)}::uuid[])
        returning account_id, listed and removed_at is null and read_at is null as counted
      )
      update inboxes set unread = inboxes.unread - counts.unread
      from (select account_id, count(*)::int as unread from gone where counted group by account_id) counts
      where inboxes.account_id = counts.account_id`.execute(trx)
    return old.length
  })
}

async function inChunks (clear: () => Promise<{ numAffectedRows?: bigint }>) {
  while (Number((await clear()).numAffectedRows ?? 0) === CHUNK);
}
