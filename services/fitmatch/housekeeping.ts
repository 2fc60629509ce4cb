import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { purgeCases } from '@tandem/case-kit'
import { deleteExpiredIdempotencyKeys, deleteExpiredQuotas, deleteInChunks } from '@tandem/database-kit'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import { eraseOldPlaces, updateInstants } from './activities/upkeep.ts'
import { runDueChecks } from './badges/checks.ts'
import { deleteExpiredRequests } from './buddies/endings.ts'
import type { Deps } from './deps.ts'
import { deleteKeptEvidence } from './erasure/actions.ts'
import { deleteUnused, markUnused } from './photos/files.ts'
import { updatePlacesOfPeople } from './places/of-people.ts'
import { purgeRemovedPhotos } from './safety/removed-photos.ts'
import { recheckRecentReporters } from './safety/reporters.ts'
import type { Db } from './tables.ts'
import { eraseOldSelfies } from './verification/actions.ts'

const HOUR_MS = 60 * 60 * 1_000
const MATCHES_AT_ONCE = 50
const MESSAGES_AT_ONCE = 1_000

/** Runs housekeeping now and every hour. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(deps), { intervalMs: HOUR_MS, log })

/** Erases data whose retention time is over, and retries what was left undone while identity was unavailable. */
export async function runHousekeeping (deps: Deps) {
  const { db, callRpc, media, selfies, now } = deps
  await runSteps({
    // First, because it suspends people who have been reported.
    'recent reporters': async () => await recheckRecentReporters({ db, callRpc }),
    selfies: async () => await eraseOldSelfies(db, selfies),
    instants: async () => await updateInstants(db, now()),
    places: async () => await eraseOldPlaces(db),
    meetings: async () =>
      await deleteInChunks(db, 'meetings', sql`alarm_at < now() - interval '30 days' order by alarm_at`),
    'ended matches': async () => await deleteEndedMatches(db),
    'deleted profiles': async () => await deleteProfiles(db),
    'places of people': async () => await updatePlacesOfPeople(db),
    'unused files': async () => await deleteUnused({ db, media }),
    cases: async () => await purgeCases({ db, media }),
    // After the cases, because the reports of one stay as long as it does.
    'kept evidence': async () => await deleteKeptEvidence(db),
    'removed photos': async () => await purgeRemovedPhotos({ db, media }),
    badges: async () => await runDueChecks(deps),
    'buddy requests': async () => await deleteExpiredRequests(db),
    'setup drafts': async () => await deleteInChunks(db, 'setup_drafts', sql`saved_at < now() - interval '1 year'`),
    'typing indicators': async () =>
      await deleteInChunks(db, 'typing_indicators', sql`started_at < now() - interval '1 hour'`),
    'message quotas': async () =>
      await deleteInChunks(db, 'message_quota', sql`window_started_at < now() - interval '1 day'`),
    quotas: async () => await deleteExpiredQuotas(db),
    'idempotency keys': async () => await deleteExpiredIdempotencyKeys(db)
  })
}

// Ended matches and deleted profiles are kept for 30 days so that they can still be reported. The messages of a match go
// first: those of one alone can take longer than a statement may, and then no match would be deleted any more.
async function deleteEndedMatches (db: Db) {
  while (await deleteSomeEndedMatches(db) === MATCHES_AT_ONCE);
}

async function deleteSomeEndedMatches (db: Db) {
  const ended = await db.selectFrom('matches').where('ended_at', '<', sql<Date>`now() - interval '30 days'`)
    .select('id').limit(MATCHES_AT_ONCE).execute()
  const ids = sql`any(${ended.map(({ id }) => id)}::uuid[])`
  while (await deleteSomeMessages(db, sql`match_id = ${ids}`) === MESSAGES_AT_ONCE);
  await sql`delete from matches where id = ${ids}`.execute(db)
  return ended.length
}

async function deleteSomeMessages (db: Db, which: RawBuilder<SqlBool>) {
  return await db.transaction().execute(async (trx) => {
    const deleted = await trx.deleteFrom('messages')
      .where('id', 'in', trx.selectFrom('messages').where(which).select('id').limit(MESSAGES_AT_ONCE))
      .returning('image_url as image')
      .execute()
    await markUnused(trx, deleted.flatMap(({ image }) => image ?? []))
    return deleted.length
  })
}

async function deleteProfiles (db: Db) {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ url: string }>`
      with deleted as (delete from deleted_profiles where deleted_at < now() - interval '30 days' returning photo_urls)
      select unnest(photo_urls) as url from deleted`.execute(trx)
    await markUnused(trx, rows.map(({ url }) => url))
  })
}
