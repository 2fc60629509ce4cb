import { sql, type Kysely, type RawBuilder, type Selectable, type SqlBool, type Transaction } from 'kysely'
import { failedItems, throwErrors, type KitLog } from '@tandem/process-kit'
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

/** The earliest time in a column of a table, which needs an index that begins with it; undefined without any. */
export async function findNextDue<Tables, Name extends keyof Tables & string> (
  db: Kysely<Tables>,
  table: Name,
  dueAt: keyof Tables[Name] & string
) {
  const { rows: [next] } = await sql<{ at: Date | null }>`
    select min(${sql.ref(dueAt)}) as at from ${sql.table(table)}`.execute(db)
  return next?.at ?? undefined
}

/** How rows of a table are claimed. It also has a column `attempts`, which counts the claims of a row. */
interface Claim<Table> {
  /** The primary key. */
  key: keyof Table & string
  /** The time from which on a row can be claimed. */
  dueAt: keyof Table & string
  /** Which rows can be claimed at all; by default every one. */
  where?: RawBuilder<SqlBool>
  /** For how long nobody else gets the row. After a crash, it is due again then. */
  leaseSeconds: number
}

interface DueWork<Table> extends Claim<Table> {
  log: Pick<KitLog, 'warn'>
  /** The pause after the first failed attempt. It doubles with each further one, up to `maxRetrySeconds`. */
  retrySeconds: number
  maxRetrySeconds: number
  maxAttempts: number
  /** Does what is due, so that the row is no longer due. It can be called again for a row whose lease has ended. */
  work: (row: Selectable<Table>) => Promise<unknown>
  /** Ends a row whose last attempt has failed, or has ended the process. */
  giveUp: (row: Selectable<Table>) => Promise<unknown>
}

/**
 * Claims the row that has been due for longest. An attempt is counted before it starts, because it may crash the
 * process. `attempts` is then the claim's number: a later claim of the row has another one.
 */
async function claimDue<Tables, Name extends keyof Tables & string> (
  db: Kysely<Tables>,
  table: Name,
  { key, dueAt, where = sql<SqlBool>`true`, leaseSeconds }: Claim<Tables[Name]>
) {
  const { rows: [claimed] } = await sql<Selectable<Tables[Name]> & { attempts: number, claimed_key: string }>`
    update ${sql.table(table)}
    set attempts = attempts + 1, ${sql.ref(dueAt)} = now() + make_interval(secs => ${leaseSeconds})
    where ${sql.ref(key)} = (
      select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(dueAt)} <= now() and ${where}
      order by ${sql.ref(dueAt)} limit 1 for update skip locked
    )
    returning *, ${sql.ref(key)} as claimed_key`.execute(db)
  return claimed
}

/**
 * Does the work of every due row, one after the other, where it is more than a transaction: calls of others, or files.
 * A row belongs to one worker until its lease ends. Work that fails is logged, and repeated later.
 * @returns how many rows it has claimed
 */
export async function workDue<Tables, Name extends keyof Tables & string> (
  db: Kysely<Tables>,
  table: Name,
  { log, retrySeconds, maxRetrySeconds, maxAttempts, work, giveUp, ...claim }: DueWork<Tables[Name]>
) {
  for (let count = 0;; count++) {
    const row = await claimDue(db, table, claim)
    if (!row) return count
    const { attempts, claimed_key: key } = row
    try {
      // More than that only if the process crashed each time.
      if (attempts > maxAttempts) await giveUp(row)
      else await work(row)
    } catch (error) {
      failedItems.inc()
      const isLast = attempts >= maxAttempts
      log.warn({ err: error, table, key, attempts }, isLast ? 'due work failed for good' : 'due work failed; retrying')
      if (isLast) await giveUp(row)
      else {
        const pauseSeconds = Math.min(retrySeconds * 2 ** (attempts - 1), maxRetrySeconds)
        await sql`
          update ${sql.table(table)} set ${sql.ref(claim.dueAt)} = now() + make_interval(secs => ${pauseSeconds})
          where ${sql.ref(claim.key)} = ${key} and attempts = ${attempts}`.execute(db)
      }
    }
  }
}
