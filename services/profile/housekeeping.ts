import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/service-kit'
import type { Deps } from './deps.ts'
import { announceMovedPictures } from './people/actions.ts'
import { deleteMarked, markUnusedForDeletion } from './photos/actions.ts'

const HOUR = 60 * 60 * 1_000

/** Forgets what has expired, deletes photos that no profile names, and announces pictures under today's address, now and every hour. */
export const startHousekeeping = (deps: Deps, log: Log) => runPeriodically(async () => await clearOld(deps), { intervalMs: HOUR, log })

export async function clearOld (deps: Deps) {
  await deleteExpiredIdempotencyKeys(deps.db)
  await deps.media.moveFormer(['photos'])
  await announceMovedPictures(deps)
  await markUnusedForDeletion(deps.db)
  const failures = await deleteMarked(deps)
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} photos could not be deleted`)
}
