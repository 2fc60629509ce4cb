import { purgeCases } from '@tandem/case-kit'
import { deleteExpiredIdempotencyKeys, deleteExpiredQuotas } from '@tandem/database-kit'
import { runPeriodically, settleAll, throwErrors, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { markUnusedForDeletion, purgeDeletedRows, deleteMarked } from './media/actions.ts'
import { replacePublicImages } from './media/private-copies.ts'
import { deleteOldReaders } from './posts/views.ts'
import { clearExpiredStories } from './stories/actions.ts'
import { markRecentlyHidden } from './visibility/hidden-rows.ts'

const MINUTE_MS = 60 * 1_000

/** Deletes expired data, now and every ten minutes. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(deps), { intervalMs: 10 * MINUTE_MS, log })

export async function runHousekeeping (deps: Pick<Deps, 'db' | 'media'>) {
  const { db } = deps
  await settleAll([
    () => markRecentlyHidden(db),
    async () => {
      while (await clearExpiredStories(db) > 0);
    },
    () => deleteExpiredQuotas(db),
    () => deleteExpiredIdempotencyKeys(db),
    () => purgeCases(deps),
    async () => {
      while (await deleteOldReaders(db) > 0n);
    },
    () => replacePublicImages(deps),
    () => purgeDeletedRows(db),
    () => markUnusedForDeletion(db),
    async () => throwErrors(await deleteMarked(deps))
  ])
}
