import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, runSteps, throwErrors, type Log } from '@tandem/process-kit'
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
  await runSteps({
    'unused photos': async () => await markUnusedForDeletion(db),
    'marked photos': async () => throwErrors(await deleteMarked(deps)),
    pictures: async () => await republishPictures(deps),
    'reserved usernames': async () => await sql`delete from reserved_usernames where until < now()`.execute(db),
    'idempotency keys': async () => await deleteExpiredIdempotencyKeys(db)
  })
}
