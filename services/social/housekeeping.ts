import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/service-kit'
import type { Deps } from './deps.ts'
import { markUnusedForDeletion, forgetRemoved, deleteMarked } from './media/actions.ts'
import { protectImages } from './media/private-copies.ts'
import { clearExpired } from './stories/actions.ts'

const MINUTE = 60 * 1_000

/** Deletes what no longer matters to anyone, now and every ten minutes. */
export const startHousekeeping = (deps: Deps, log: Log) => runPeriodically(async () => await clearOld(deps), { intervalMs: 10 * MINUTE, log })

export async function clearOld (deps: Pick<Deps, 'db' | 'media'>) {
  const { db, media } = deps
  while (await clearExpired(db) > 0);
  await sql`delete from story_days where day < current_date - 3`.execute(db)
  await deleteExpiredIdempotencyKeys(db)

  await media.moveFormer(['social'])
  await protectImages(deps)
  await forgetRemoved(db)
  await markUnusedForDeletion(db)
  const failures = await deleteMarked(deps)
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} images could not be deleted`)
}
