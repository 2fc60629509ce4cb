import { sql, type Transaction } from 'kysely'
import { failedItems, isTransient } from '@tandem/process-kit'
import { isStatementTimeout } from './refusals.ts'

export interface FailedItem<Item> {
  item: Item
  error: unknown
}

// Each takes as long as a statement may, while the transaction holds its locks.
const MAX_TIMEOUTS = 3

/**
 * Does `work` for items of one transaction. If it fails, it is undone and done for each item alone, in a savepoint, so
 * that an item whose row is at fault undoes only its own changes. Without a fault it costs two statements.
 * @param work writes to the transaction only, so that it can be repeated
 * @returns what `work` returned, and the items that failed: the caller retries or reports them after the commit
 * @throws an error that is not the fault of an item, such as a lost connection or a deadlock, or the timeout of a
 *   statement: it is an item's fault only if the item alone takes too long, and Postgres is not too slow for all of them
 */
export async function inSavepoints<Tables, Item, Result> (
  trx: Transaction<Tables>,
  items: Item[],
  work: (items: Item[]) => Promise<Result>
): Promise<{ results: Result[], failures: FailedItem<Item>[] }> {
  if (items.length === 0) return { results: [], failures: [] }
  const all = await inSavepoint(trx, async () => await work(items))
  if ('result' in all) return { results: [all.result], failures: [] }
  const results: Result[] = []
  const failures: FailedItem<Item>[] = []
  for (const item of items) {
    const one = items.length === 1 ? all : await inSavepoint(trx, async () => await work([item]))
    if ('result' in one) results.push(one.result)
    else failures.push({ item, error: one.error })
    const timeouts = failures.filter(({ error }) => isStatementTimeout(error)).length
    if ('error' in one && (timeouts > MAX_TIMEOUTS || timeouts === items.length)) throw one.error
  }
  failedItems.inc(failures.length)
  return { results, failures }
}

async function inSavepoint<Tables, Result> (
  trx: Transaction<Tables>,
  work: () => Promise<Result>
): Promise<{ result: Result } | { error: unknown }> {
  await sql`savepoint items`.execute(trx)
  try {
    const result = await work()
    await sql`release savepoint items`.execute(trx)
    return { result }
  } catch (error) {
    if (error instanceof Error && isTransient(error) && !isStatementTimeout(error)) throw error
    await sql`rollback to savepoint items`.execute(trx)
    await sql`release savepoint items`.execute(trx)
    return { error }
  }
}
