import { sql, type Kysely, type Transaction } from 'kysely'
import type Type from 'typebox'
import { on, publish, type CallRpc, type FailedMessageTables, type Handler, type OutboxTables } from '@tandem/bus-kit'
import { AccountErasing, HiddenOrErased, PersonHidden } from '@tandem/contracts'
import type { AccountErased, Erased, EventDefinition, PersonalDataPage } from '@tandem/contracts'
import { findNextDue } from '@tandem/database-kit'
import {
  Degraded,
  failedItems,
  runPeriodically,
  runWhenDue,
  settleEach,
  throwErrors,
  Unavailable,
  type Log
} from '@tandem/process-kit'
import { setTimeout as sleep } from 'node:timers/promises'
import { countRows, eraseRows, personalTables } from './erase-rows.ts'
import { hide, hideAll } from './hidden.ts'
import { readPersonalData } from './export.ts'
import { erasureSources } from './metrics.ts'
import type { PersonalData } from './personal-data.ts'
import type { ErasureTables } from './tables.ts'

type Page = Type.Static<typeof HiddenOrErased.response>
type KitTables = ErasureTables & OutboxTables & FailedMessageTables

interface ErasureOptions<Tables extends KitTables> {
  db: Kysely<Tables>
  personalData: PersonalData<Tables>
  /** The event that reports the counts of each pass to identity. Identity confirms its own passes, without an event. */
  report: EventDefinition<typeof Erased> | {
    service: string,
    /** Called in the transaction in which a pass is complete. */
    confirm: (trx: Transaction<Tables>, erased: AccountErased) => Promise<unknown>
  }
  /** Deletes a file of an erased row. Does nothing if it does not exist. */
  removeFile?: (key: string, accountId: string) => Promise<unknown>
  /** Removes what is outside the database and the file storage, such as cached values. */
  forget?: (accountId: string) => Promise<unknown>
  /** Calls identity; identity itself has no need to. */
  callRpc?: CallRpc
}

/** The erasure of accounts in one service. */
export interface AccountErasure {
  handlers: Handler[]
  /** Erases what is due. @returns how many passes it completed @throws the errors of the accounts that stay due */
  eraseDue(): Promise<number>
  /** Counts again what is left of an erased account. */
  verify(accountId: string): Promise<{ left: Record<string, number>, kept: number }>
  /** Reads a page of a person's copy of their data; `after` is the `next` of the previous page. */
  readPersonalData(page: { accountId: string, after: string | null }): Promise<PersonalDataPage>
  /**
   * The health check of a service: it is ready once it has compared with identity who was erased, and has erased them
   * again, so a restored database brings nobody back. Without identity, and if the erasure takes long, it is ready 30 s after
   * its start all the same.
   * @throws Degraded
   */
  checkCompared(): Promise<void>
  /** Erases and reconciles in the background until the returned function is called. */
  start(log: Log): () => Promise<void>
}

const MAX_ERASE_INTERVAL_MS = 10_000
const RECONCILE_INTERVAL_MS = 10 * 60 * 1_000
const RETRY_INTERVAL_MS = 10_000
const FIRST_RETRY_INTERVAL_MS = 250
const WAIT_FOR_IDENTITY_MS = 30_000
// What late events may bring back: those that are being handled, and after a restore are delivered again, take a minute;
// outboxes keep events for 72 hours, streams for 7 days, failed messages for 14.
const SWEEPS_AFTER = ['1 minute', '1 hour', '1 day', '8 days', '15 days'] as const
const LAST_SWEEP_RETRY = '1 day'
// A file whose storing began before its row was deleted is complete by then. The first sweep comes later.
const STORED_WITHIN = '50 seconds'

export function createErasure<Tables extends KitTables> (options: ErasureOptions<Tables>): AccountErasure {
  const { report, removeFile, forget, callRpc } = options
  // The kit works on tables that it only knows by name; `personalData` is checked against them where it is declared.
  const db = options.db as unknown as Kysely<KitTables>
  const untyped = db as unknown as Kysely<never>
  const tables = personalTables(options.personalData)

  /**
   * One transaction of the erasure that is due first, except those in `failed`.
   * @returns the account, and whether no row of it is left; undefined if nothing is due
   */
  async function eraseBatch (failed: Map<string, unknown>) {
    let accountId: string | undefined
    try {
      return await db.transaction().execute(async (trx) => {
        const due = await trx.selectFrom('departures').where('next_pass_at', '<=', sql<Date>`now()`)
          .where('account_id', '<>', sql<string>`all(${[...failed.keys()]}::uuid[])`)
          .select(['account_id as accountId'])
          .orderBy('next_pass_at').limit(1).forUpdate().skipLocked()
          .executeTakeFirst()
        if (!due) return
        accountId = due.accountId
        const { rows, isComplete } = await eraseRows(trx as unknown as Transaction<never>, tables, due.accountId)
        const found = Object.values(rows).reduce((sum, count) => sum + count, 0)
        if (found > 0) {
          await sql`update departures set found = found + ${found}, rows = rows || (
          select coalesce(jsonb_object_agg(name, coalesce((rows ->> name)::int, 0) + count::int), '{}')
          from jsonb_each_text(${JSON.stringify(rows)}::jsonb) as erased (name, count)
        ) where account_id = ${due.accountId}`.execute(trx)
        }
        return { accountId: due.accountId, isComplete }
      })
    } catch (error) {
      if (accountId === undefined) throw error
      failedItems.inc()
      failed.set(accountId, error)
      return { accountId, isComplete: false }
    }
  }

  async function eraseFiles (accountId: string) {
    const files = await db.selectFrom('files_to_erase').where('account_id', '=', accountId).select('key').execute()
    await settleEach(files, async ({ key }) => {
      await removeFile?.(key, accountId)
      // One statement, so the file is counted once whatever happens before it.
      await sql`with removed as (
        update files_to_erase set removed_at = now()
        where account_id = ${accountId} and key = ${key} and removed_at is null returning key
      ) update departures set files = files + (select count(*) from removed) where account_id = ${accountId}`.execute(
        db
      )
    })
    // Not yet those that were removed just now: one that was being stored meanwhile appears afterwards.
    await db.deleteFrom('files_to_erase').where('account_id', '=', accountId)
      .where('removed_at', '<', sql<Date>`now() - ${STORED_WITHIN}::interval`).execute()
  }

  /** Ends a pass over all tables, and plans the next one. */
  async function completePass (accountId: string) {
    const { kept } = await countRows(untyped, tables, accountId)
    await db.transaction().execute(async (trx) => {
      const tombstone = await lockTombstone(trx, accountId)
      // Another replica was faster.
      if (!tombstone?.isDue) return
      const isLast = tombstone.passes >= SWEEPS_AFTER.length
      const sweep = SWEEPS_AFTER[tombstone.passes] ?? LAST_SWEEP_RETRY
      const isOver = isLast && tombstone.found === 0
      await sql`
        update departures set passes = passes + 1, found = 0, kept = ${kept},
          erased_at = coalesce(erased_at, now()),
          next_pass_at = case when ${isOver} then null else
            case when ${isLast} then now() else coalesce(erased_at, now()) end + ${sweep}::interval end
        where account_id = ${accountId}`.execute(trx)
      await reportCounts(trx, accountId)
    })
  }

  async function reportCounts (trx: Transaction<KitTables>, accountId: string) {
    const { erasureId, rows, files, kept, nextPassAt, passes } = (await lockTombstone(trx, accountId))!
    const sweepsLeft = nextPassAt === null ? 0 : Math.max(1, SWEEPS_AFTER.length + 1 - passes)
    const erased = { accountId, erasureId, rows, files, kept, sweepsLeft }
    if ('confirm' in report) await report.confirm(trx as unknown as Transaction<Tables>, erased)
    else await publish(trx, report, accountId, erased)
  }

  async function eraseDue () {
    let passes = 0
    // Their accounts stay due. The others are erased first, so that the fault of one row or file does not keep them.
    const failed = new Map<string, unknown>()
    for (;;) {
      const batch = await eraseBatch(failed)
      if (!batch) break
      if (!batch.isComplete) continue
      try {
        await eraseFiles(batch.accountId)
        await forget?.(batch.accountId)
        await completePass(batch.accountId)
        passes++
      } catch (error) {
        failedItems.inc()
        failed.set(batch.accountId, error)
      }
    }
    throwErrors([...failed.values()])
    return passes
  }

  async function insertOrReport (
    trx: Transaction<KitTables>,
    { accountId, erasureId }: { accountId: string, erasureId: string }
  ) {
    const isNew = await insertTombstone(trx, { accountId, erasureId })
    if (isNew) return
    const known = await lockTombstone(trx, accountId)
    // Identity repeats itself when it has heard no confirmation.
    if (known?.erasureId === erasureId && known.passes > 0) await reportCounts(trx, accountId)
  }

  /** Compares with identity which accounts are hidden or erased, and mends the difference. @throws Unavailable */
  async function reconcile () {
    if (!callRpc) return
    for (let after: string | null = null;;) {
      const { at, departures: people, next }: Page = await callRpc(HiddenOrErased, { after }, { timeoutMs: 5_000 })
      await hideAll(db, people, { from: after, to: next, at })
      for (const { accountId, erasureId } of people) {
        if (erasureId) {
          await db.transaction().execute(async (trx) => await insertTombstone(trx, { accountId, erasureId }))
        }
      }
      if (next === null) return
      after = next
    }
  }

  /** Also waits for what another replica is erasing, unless `isWaiting` ends first. */
  async function eraseAllDue () {
    while (isWaiting() && await isErasureDue()) {
      if (await eraseDue() === 0) await sleep(FIRST_RETRY_INTERVAL_MS)
    }
  }

  async function isErasureDue () {
    const due = await db.selectFrom('departures').where('next_pass_at', '<=', sql<Date>`now()`).select('account_id')
      .limit(1).executeTakeFirst()
    return due !== undefined
  }

  let lookForDue = () => {}
  let startedAt = Date.now()
  let reconciledAt = 0
  const isWaiting = () => reconciledAt === 0 && Date.now() - startedAt < WAIT_FOR_IDENTITY_MS

  /** The first time often and without a warning, because the service is not ready until then. */
  async function reconcileAtStart () {
    while (isWaiting()) {
      try {
        await reconcile()
        await eraseAllDue()
        reconciledAt = Date.now()
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        await sleep(FIRST_RETRY_INTERVAL_MS)
      }
    }
  }

  return {
    async checkCompared () {
      if (isWaiting()) throw new Degraded('erased accounts are not yet compared with identity and erased again')
    },
    handlers: [
      on(AccountErasing, async ({ data }) => {
        await db.transaction().execute(async (trx) => await insertOrReport(trx, data))
        lookForDue()
      }),
      on(PersonHidden, async ({ data: { accountId, hidden }, time }) => await hide(db, accountId, hidden, time))
    ],
    eraseDue,
    verify: async (accountId) => await countRows(untyped, tables, accountId),
    readPersonalData: async (page) => await readPersonalData(untyped, tables, page),
    start (log) {
      const source = { service: report.service, db: db as unknown as Kysely<ErasureTables> }
      erasureSources.add(source)
      const erasing = runWhenDue(eraseDue, {
        findNext: async () => await findNextDue(db, 'departures', 'next_pass_at'),
        maxIntervalMs: MAX_ERASE_INTERVAL_MS,
        log
      })
      lookForDue = erasing.ring
      startedAt = Date.now()
      const stopReconciling = runPeriodically(async () => {
        await reconcileAtStart()
        if (Date.now() - reconciledAt < RECONCILE_INTERVAL_MS) return
        await reconcile()
        reconciledAt = Date.now()
      }, { intervalMs: RETRY_INTERVAL_MS, log })
      return async () => {
        startedAt = 0
        erasureSources.delete(source)
        await Promise.all([erasing.stop(), stopReconciling()])
      }
    }
  }
}

/** Writes the tombstone of an account, from which on it is erased. @returns false if it exists already */
export async function insertTombstone (
  trx: Transaction<ErasureTables>,
  { accountId, erasureId }: { accountId: string, erasureId: string }
) {
  // A restored backup can hold the same account without its tombstone, or with one of an earlier erasure.
  const { rows } = await sql`
    insert into departures (account_id, erasure_id) values (${accountId}, ${erasureId})
    on conflict (account_id) do update set erasure_id = excluded.erasure_id, rows = '{}', files = 0, kept = 0,
      passes = 0, found = 0, next_pass_at = now(), erased_at = null
      where departures.erasure_id <> excluded.erasure_id
    returning account_id`.execute(trx)
  return rows.length > 0
}

/** Whether an account is being erased here, or was. Ask it where a row is made that no other row leads to. */
export async function hasTombstone<Tables extends ErasureTables> (db: Kysely<Tables>, accountId: string) {
  const { rows } = await sql`select from departures where account_id = ${accountId}`.execute(db)
  return rows.length > 0
}

const lockTombstone = async (trx: Transaction<KitTables>, accountId: string) =>
  await trx.selectFrom('departures').where('account_id', '=', accountId).select(tombstoneColumns).forUpdate()
    .executeTakeFirst()
const tombstoneColumns = [
  'erasure_id as erasureId',
  'rows',
  'files',
  'kept',
  'passes',
  'found',
  'next_pass_at as nextPassAt',
  sql<boolean>`coalesce(next_pass_at <= now(), false)`.as('isDue')
] as const
