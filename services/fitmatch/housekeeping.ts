import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/service-kit'
import type { Deps } from './deps.ts'
import { copyBorrowedPhotos, discardUnlessKept, type File } from './photos/files.ts'
import { checkRecentReporters } from './safety/reporters.ts'
import { eraseOldSelfies } from './verification/actions.ts'

const HOUR = 60 * 60 * 1_000

/** Erases what is due and deletes what no longer matters to anyone, now and every hour. */
export const startHousekeeping = (deps: Deps, log: Log) => runPeriodically(async () => await clearOld(deps), { intervalMs: HOUR, log })

export async function clearOld ({ db, callRpc, media, selfies }: Deps) {
  await eraseOldSelfies(db, selfies)
  for (const table of ['swipe_quota', 'moves', 'report_quota'] as const) {
    await sql`delete from ${sql.table(table)} where day < current_date - 2`.execute(db)
  }
  await sql`delete from message_quota where began_at < now() - interval '1 day'`.execute(db)
  await sql`delete from typing where since < now() - interval '1 hour'`.execute(db)
  await sql`delete from setup_drafts where saved_at < now() - interval '1 year'`.execute(db)
  await deleteExpiredIdempotencyKeys(db)

  // What has ended is only kept in case of a report.
  const pictures = await sql<File>`
    with gone as (delete from matches where ended_at < now() - interval '30 days' returning id)
    select image_url as url, sender_id as owner from messages where match_id in (select id from gone) and image_url is not null`.execute(db)
  const photos = await sql<File>`
    with gone as (delete from departed_profiles where deleted_at < now() - interval '30 days' returning photo_urls, account_id)
    select unnest(photo_urls) as url, account_id as owner from gone`.execute(db)
  await discardUnlessKept({ db, media }, [...pictures.rows, ...photos.rows])

  await media.moveFormer(['fitmatch', 'chat'])
  await copyBorrowedPhotos({ db, media })
  // Last, as it throws while identity is unavailable.
  await checkRecentReporters({ db, callRpc })
}
