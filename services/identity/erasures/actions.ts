import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { insertTombstone } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { AccountErasing, type AccountErased } from '@tandem/contracts'
import { workLocked } from '@tandem/database-kit'
import { withdrawCollapsed } from '@tandem/mail-kit'
import { settleEach } from '@tandem/process-kit'
import { setHidden } from '../hidden.ts'
import type { LockedAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { DeletionBegun, DeletionPending, InvalidResetToken } from '../errors.ts'
import { deletionMailsOf } from '../mail-keys.ts'
import { rememberRestriction } from '../remembered/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { findBilledPurchase } from '../subscriptions/queries.ts'
import type { Db, ErasureCause, Trx } from '../tables.ts'
import { LEDGER_DAYS, otherServices } from './queries.ts'

// An access token lives 15 minutes: after 20, no request can write behind the erasure.
const IMMEDIATE_DELAY = '20 minutes'

interface ErasureRequest {
  cause: ErasureCause
  /** Undefined erases as soon as no access token can be used any more. */
  graceDays?: number
}

/**
 * Schedules the erasure of an account. Its sessions end, and it is hidden. The caller holds the lock of the account.
 * @throws DeletionPending
 */
export async function scheduleErasure (
  trx: Trx,
  account: Pick<LockedAccount, 'id'>,
  { cause, graceDays }: ErasureRequest
) {
  const delay = graceDays === undefined ? IMMEDIATE_DELAY : `${graceDays} days`
  const billed = await findBilledPurchase(trx, account.id)
  const erasure = await trx.insertInto('erasures')
    .values({
      id: randomUUID(),
      account_id: account.id,
      cause,
      // Never before the last access token has ended, nor while a change of address can be taken back: the person who
      // changed it may be a thief.
      erase_at: sql`greatest(now() + greatest(${delay}::interval, ${IMMEDIATE_DELAY}::interval),
        (select max(expires_at) from email_reverts where account_id = ${account.id}::uuid))`,
      providers: sql`array(
        select provider from provider_links where account_id = ${account.id}::uuid order by provider)`,
      has_subscription: billed !== undefined,
      manage_url: billed?.manageUrl ?? null
    })
    // At most one is live: a partial index says so.
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'erase_at as eraseAt'])
    .executeTakeFirst()
  if (!erasure) throw new DeletionPending()
  await setHidden(trx, account.id, { leaving_at: sql`now()` })
  await endSessions(trx, { accountId: account.id })
  return erasure
}

/**
 * Makes a scheduled erasure that of an address which nobody verified: without the rest of the grace period.
 * @returns false if it is held or has begun
 */
export async function bringForward (trx: Trx, erasureId: string) {
  const brought = await trx.updateTable('erasures')
    .set({ cause: 'EXPIRY', erase_at: sql`least(erase_at, now() + ${IMMEDIATE_DELAY}::interval)` })
    .where('id', '=', erasureId).where('status', '=', 'SCHEDULED').where('begun_at', 'is', null)
    .returning('id').executeTakeFirst()
  return brought !== undefined
}

/**
 * Cancels an erasure that has not begun: everything is as it was. From `eraseAt` on it is too late, whether it has
 * begun or not, so the ledger never names an account that stays.
 * @throws DeletionBegun; InvalidResetToken if it is canceled already
 */
export async function cancelErasure (trx: Trx, accountId: string, erasureId: string) {
  const canceled = await trx.updateTable('erasures')
    .set({ status: 'CANCELED', canceled_at: sql`now()`, held_until: null })
    .where('id', '=', erasureId).where('account_id', '=', accountId)
    .where('status', 'in', ['SCHEDULED', 'HELD']).where('begun_at', 'is', null)
    .where('erase_at', '>', sql<Date>`clock_timestamp()`)
    .returning('id').executeTakeFirst()
  if (!canceled) {
    const erasure = await trx.selectFrom('erasures').where('id', '=', erasureId).where('account_id', '=', accountId)
      .select('status').executeTakeFirst()
    throw erasure?.status === 'CANCELED' ? new InvalidResetToken() : new DeletionBegun()
  }
  await trx.deleteFrom('provider_revocations').where('erasure_id', '=', erasureId).execute()
  // One that waits for the mail server would say that the account will be erased.
  await withdrawCollapsed(trx, deletionMailsOf(accountId))
  await setHidden(trx, accountId, { leaving_at: null })
}

/**
 * Begins the erasures that are due. Nothing is erased before the ledger is written. A crash at any point only means that
 * the rest happens later.
 */
export async function beginDueErasures ({ db, ledger }: Pick<Deps, 'db' | 'ledger'>) {
  await sql`
    update erasures set status = 'SCHEDULED', held_until = null where status = 'HELD' and held_until < now()`.execute(
    db
  )
  // The claim comes first: a cancel that is not committed yet cannot succeed once the ledger names the account.
  const claimed = await db.updateTable('erasures').set({ begun_at: sql`coalesce(begun_at, now())` })
    .where('status', '=', 'SCHEDULED').where('erase_at', '<=', sql<Date>`now()`)
    .returning(['id as erasureId', 'account_id as accountId']).execute()
  await settleEach(claimed, async ({ erasureId, accountId }) => {
    await ledger.add({ erasureId, accountId, day: today() })
    await db.transaction().execute(async (trx) => {
      const begun = await trx.updateTable('erasures').set({ status: 'RUNNING', announced_at: sql`now()` })
        .where('id', '=', erasureId).where('status', '=', 'SCHEDULED').returning('id').executeTakeFirst()
      if (begun) await publish(trx, AccountErasing, accountId, { erasureId, accountId })
    })
  })
}

const REPEAT_BATCH_SIZE = 100

/** Publishes erasures again that some service has not confirmed for ten minutes. */
export async function repeatUnconfirmed (db: Db) {
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('erasures')
        .where('status', '=', 'RUNNING').where('announced_at', '<', sql<Date>`now() - interval '10 minutes'`)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select(['id', 'account_id as accountId'])
        .orderBy('announced_at').limit(REPEAT_BATCH_SIZE)
        .forUpdate().skipLocked()
        .execute(),
    async work (trx, late) {
      await trx.updateTable('erasures').set({ announced_at: sql`now()` }).where('id', 'in', late.map(({ id }) => id))
        .execute()
      for (const { id, accountId } of late) await publish(trx, AccountErasing, accountId, { erasureId: id, accountId })
    }
  })
}

/**
 * Records what a service erased. Once all others are done, identity erases the account itself, and with that the
 * erasure is complete. It is closed when no service expects late events any more.
 */
export async function confirmErasure (
  trx: Trx,
  secrets: Deps['secrets'],
  service: string,
  { erasureId, accountId, rows, files, kept, sweepsLeft }: AccountErased
) {
  const erasure = await trx.selectFrom('erasures').where('id', '=', erasureId).select(['status']).forUpdate()
    .executeTakeFirst()
  if (!erasure) return
  const counts = { rows: JSON.stringify(rows), files, kept, sweeps_left: sweepsLeft, confirmed_at: sql<Date>`now()` }
  await trx.insertInto('erasure_confirmations').values({ erasure_id: erasureId, service, ...counts })
    .onConflict((conflict) => conflict.columns(['erasure_id', 'service']).doUpdateSet(counts))
    .execute()
  const confirmations = await trx.selectFrom('erasure_confirmations').where('erasure_id', '=', erasureId)
    .select(['service', 'sweeps_left as sweepsLeft']).execute()
  const isConfirmedBy = (name: string) => confirmations.some((each) => each.service === name)

  if (erasure.status === 'RUNNING' && otherServices.every(isConfirmedBy)) {
    if (isConfirmedBy('identity')) {
      await trx.updateTable('erasures').set({ status: 'ERASED', erased_at: sql`now()` }).where('id', '=', erasureId)
        .execute()
    } else if (await insertTombstone(trx, { accountId, erasureId })) {
      // Now, because the erasure deletes what is remembered of it.
      await rememberRestriction(trx, secrets, accountId)
    }
  } else if (erasure.status === 'ERASED' && confirmations.every((each) => each.sweepsLeft === 0)) {
    await trx.updateTable('erasures').set({ status: 'CLOSED', closed_at: sql`now()` }).where('id', '=', erasureId)
      .execute()
  }
}

/**
 * Runs every erasure of the ledger again whose account is here all the same: the database was restored from a backup.
 * @returns how many
 */
export async function replayLedger ({ db, ledger }: Pick<Deps, 'db' | 'ledger'>) {
  let replayed = 0
  await settleEach(await ledger.list(), async ({ erasureId, accountId, day }) => {
    const isReplayed = await db.transaction().execute(async (trx) => {
      const account = await trx.selectFrom('accounts').where('id', '=', accountId).where('registered_network', '<>', '')
        .select('id').forUpdate().executeTakeFirst()
      const live = await trx.selectFrom('erasures').where('account_id', '=', accountId)
        .where('status', 'in', ['RUNNING', 'HELD']).select('id').executeTakeFirst()
      const known = await trx.selectFrom('erasures').where('id', '=', erasureId).select('status').executeTakeFirst()
      // Without an account, the row is still needed: it names the erasure to the other services.
      if (live || (known && known.status !== 'SCHEDULED' && !account)) return false
      await trx.deleteFrom('erasure_confirmations').where('erasure_id', '=', erasureId).execute()
      await trx.deleteFrom('departures').where('account_id', '=', accountId).execute()
      await trx.deleteFrom('erasures').where('account_id', '=', accountId).where('status', '=', 'SCHEDULED')
        // It may be the one that is beginning just now, with what is still to be revoked.
        .where('id', '<>', erasureId).execute()
      const running = { status: 'RUNNING', begun_at: sql<Date>`now()`, announced_at: sql<Date>`now()` } as const
      await trx.insertInto('erasures')
        .values({ id: erasureId, account_id: accountId, cause: 'LEDGER', erase_at: new Date(day), ...running })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...running, erased_at: null, closed_at: null }))
        .execute()
      await publish(trx, AccountErasing, accountId, { erasureId, accountId })
      return true
    })
    if (isReplayed) replayed++
  })
  return replayed
}

/** Deletes entries of the ledger that outlived every backup, and receipts after a year. */
export async function deleteOldErasures ({ db, ledger }: Pick<Deps, 'db' | 'ledger'>) {
  await sql`
    delete from erasures where coalesce(closed_at, canceled_at) < now() - interval '1 year'`.execute(db)
  await sql`delete from remembered where until < now()`.execute(db)
  await ledger.deleteBefore(Temporal.Now.plainDateISO('UTC').subtract({ days: LEDGER_DAYS }).toString())
}

const today = () => Temporal.Now.plainDateISO('UTC').toString()
