import { sql } from 'kysely'
import { purgeCases } from '@tandem/case-kit'
import { deleteExpiredIdempotencyKeys, deleteExpiredQuotas } from '@tandem/database-kit'
import { runPeriodically, settleAll, type Log } from '@tandem/process-kit'
import { eraseOldPlaces, updateInstants } from './activities/upkeep.ts'
import { deleteExpiredRequests } from './buddies/endings.ts'
import type { Deps } from './deps.ts'
import type { Db } from './tables.ts'
import { deleteKeptEvidence } from './erasure/actions.ts'
import { deleteUnused, markUnused } from './photos/files.ts'
import { purgeRemovedPhotos } from './safety/removed-photos.ts'
import { recheckRecentReporters } from './safety/reporters.ts'
import { eraseOldSelfies } from './verification/actions.ts'

const HOUR_MS = 60 * 60 * 1_000

/** Runs housekeeping now and every hour. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(deps), { intervalMs: HOUR_MS, log })

/** Rechecks reports whose reporters identity could not confirm, and erases data whose retention time is over. */
export async function runHousekeeping ({ db, callRpc, media, selfies, now }: Deps) {
  await settleAll([
    () => recheckRecentReporters({ db, callRpc }),
    () => eraseOldSelfies(db, selfies),
    () => updateInstants(db, now()),
    () => eraseOldPlaces(db),
    () => sql`delete from meetings where alarm_at < now() - interval '30 days'`.execute(db),
    () => deleteExpiredQuotas(db),
    () => sql`delete from message_quota where window_started_at < now() - interval '1 day'`.execute(db),
    () => sql`delete from typing_indicators where started_at < now() - interval '1 hour'`.execute(db),
    () => sql`delete from setup_drafts where saved_at < now() - interval '1 year'`.execute(db),
    () => deleteExpiredRequests(db),
    () => deleteExpiredIdempotencyKeys(db),
    () => deleteEndedMatches(db),
    () => deleteUnused({ db, media }),
    () => deleteKeptEvidence(db),
    () => purgeCases({ db, media }),
    () => purgeRemovedPhotos({ db, media })
  ])
}

/** Ended matches and deleted profiles are kept for 30 days so that they can still be reported. */
async function deleteEndedMatches (db: Db) {
  await db.transaction().execute(async (trx) => {
    const images = await sql<{ url: string }>`
      with deleted as (delete from matches where ended_at < now() - interval '30 days' returning id)
      select image_url as url from messages where match_id in (select id from deleted) and image_url is not null`
      .execute(trx)
    const photos = await sql<{ url: string }>`
      with deleted as (delete from deleted_profiles where deleted_at < now() - interval '30 days' returning photo_urls)
      select unnest(photo_urls) as url from deleted`.execute(trx)
    await markUnused(trx, [...images.rows, ...photos.rows].map(({ url }) => url))
  })
}
