import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, settleAll, throwErrors, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { republishPictures } from './people/actions.ts'
import { deleteMarked, markUnusedForDeletion } from './photos/actions.ts'

const HOUR_MS = 60 * 60 * 1_000

/**
 * Deletes expired idempotency keys and unused photos, and publishes pictures again whose base URL has changed, now and
 * every hour.
 */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(deps), { intervalMs: HOUR_MS, log })

export async function runHousekeeping (deps: Deps) {
  const { db } = deps
  await settleAll([
    () => deleteExpiredIdempotencyKeys(db),
    () => sql`delete from reserved_usernames where until < now()`.execute(db),
    () => republishPictures(deps),
    () => markUnusedForDeletion(db),
    async () => throwErrors(await deleteMarked(deps))
  ])
}
