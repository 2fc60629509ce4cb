import { purgeCases } from '@tandem/case-kit'
import { deleteExpiredIdempotencyKeys, deleteExpiredQuotas } from '@tandem/database-kit'
import { runPeriodically, runSteps, throwErrors, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { clearDeletedPosts } from './erasure/deleted-posts.ts'
import { markUnusedForDeletion, purgeDeletedRows, deleteMarked } from './media/actions.ts'
import { replacePublicImages } from './media/private-copies.ts'
import { deleteOldCanceledActivities } from './posts/snapshots.ts'
import { deleteExpiredUploads } from './media/uploads.ts'
import { markAbandoned } from './media/videos.ts'
import { deleteOldReaders } from './posts/views.ts'
import { clearExpiredStories } from './stories/actions.ts'
import { markRecentlyHidden } from './visibility/hidden-rows.ts'

const MINUTE_MS = 60 * 1_000

/** Deletes expired data, now and every ten minutes. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(deps), { intervalMs: 10 * MINUTE_MS, log })

export async function runHousekeeping (deps: Pick<Deps, 'db' | 'media' | 'uploadParts'>) {
  const { db } = deps
  await runSteps({
    'recently hidden rows': async () => await markRecentlyHidden(db),
    'expired stories': async () => await clearExpiredStories(db),
    'deleted posts': async () => await clearDeletedPosts(db),
    // Until then, anyone with their URL can see them.
    'public images': async () => await replacePublicImages(deps),
    cases: async () => await purgeCases(deps),
    'expired uploads': async () => await deleteExpiredUploads(deps),
    'abandoned videos': async () => await markAbandoned(db),
    'deleted rows': async () => await purgeDeletedRows(db),
    'unused images': async () => await markUnusedForDeletion(db),
    'marked images': async () => throwErrors(await deleteMarked(deps)),
    'old readers': async () => await deleteOldReaders(db),
    'canceled activities': async () => await deleteOldCanceledActivities(db),
    quotas: async () => await deleteExpiredQuotas(db),
    'idempotency keys': async () => await deleteExpiredIdempotencyKeys(db)
  })
}
