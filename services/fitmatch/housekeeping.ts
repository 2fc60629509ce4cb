import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { deleteKeptEvidence } from './erasure/actions.ts'
import { removeUnreportedFiles, type StoredFile } from './photos/files.ts'
import { recheckRecentReporters } from './safety/reporters.ts'
import { eraseOldSelfies } from './verification/actions.ts'

const HOUR_MS = 60 * 60 * 1_000

/** Runs housekeeping now and every hour. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(deps), { intervalMs: HOUR_MS, log })

/** Erases data whose retention time is over, and retries what was left undone while identity was unavailable. */
export async function runHousekeeping ({ db, callRpc, media, selfies }: Deps) {
  await eraseOldSelfies(db, selfies)
  for (const table of ['swipe_quota', 'position_change_quota', 'report_quota'] as const) {
    await sql`delete from ${sql.table(table)} where day < current_date - 2`.execute(db)
  }
  await sql`delete from message_quota where window_started_at < now() - interval '1 day'`.execute(db)
  await sql`delete from typing_indicators where started_at < now() - interval '1 hour'`.execute(db)
  await sql`delete from setup_drafts where saved_at < now() - interval '1 year'`.execute(db)
  await deleteExpiredIdempotencyKeys(db)

  // Ended matches and deleted profiles are kept for 30 days so that they can still be reported.
  const images = await sql<StoredFile>`
    with deleted as (delete from matches where ended_at < now() - interval '30 days' returning id)
    select image_url as url, sender_id as "ownerId" from messages where match_id in (select id from deleted)
      and image_url is not null`
    .execute(db)
  const photos = await sql<StoredFile>`
    with deleted as (delete from deleted_profiles where deleted_at < now() - interval '30 days'
      returning photo_urls, account_id)
    select unnest(photo_urls) as url, account_id as "ownerId" from deleted`.execute(db)
  await removeUnreportedFiles({ db, media }, [...images.rows, ...photos.rows, ...await deleteKeptEvidence(db)])

  // Last, because it throws while identity is unavailable.
  await recheckRecentReporters({ db, callRpc })
}
