import type { Kysely, Transaction } from 'kysely'
import { throwErrors } from '@tandem/process-kit'
import { inSavepoints, type FailedItem } from './savepoints.ts'

interface LockedWork<Tables, Row> {
  /** Selects a batch of due rows for update, except those with `failedIds`. It skips the locked ones of other workers. */
  lock: (trx: Transaction<Tables>, failedIds: string[]) => Promise<Row[]>
  /** Does what is due, so that the rows are no longer due. It writes to the transaction only. */
  work: (trx: Transaction<Tables>, rows: Row[]) => Promise<unknown>
}

/**
 * Handles every due row once, in one transaction for each batch. The locks are the claim: several processes share the
 * rows, and a process that crashes returns its own.
 * @throws the errors of the rows that failed, which stay due, after all others are done
 */
export async function workLocked<Tables, Row extends { id: string }> (
  db: Kysely<Tables>,
  { lock, work }: LockedWork<Tables, Row>
) {
  const failed: FailedItem<Row>[] = []
  let isDone: boolean
  do {
    isDone = await db.transaction().execute(async (trx) => {
      const rows = await lock(trx, failed.map(({ item }) => item.id))
      const { failures } = await inSavepoints(trx, rows, async (some) => await work(trx, some))
      failed.push(...failures)
      return rows.length === 0
    })
  } while (!isDone)
  throwErrors(failed.map(({ error }) => error))
}
