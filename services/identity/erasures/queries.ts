import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/** The services that confirm an erasure before identity erases the account itself. */
export const otherServices = ['profile', 'social', 'fitmatch', 'dashboard', 'notification'] as const

/** How long an entry of the ledger is compared: as long as a backup can be restored, and 14 days for late events. */
const LEDGER_LIFE = '49 days'
export const LEDGER_DAYS = 49

const PAGE_SIZE = 500
// A change that began before this page was read may commit after it. What is newer than `at` is left to its event.
const LONGEST_TRANSACTION = '10 seconds'

/** A page of the accounts that are hidden, or whose erasure began while a backup may still hold them. */
export async function listHiddenOrErased (db: Db, after: string | null) {
  const { rows: [clock] } = await sql<{ at: Date }>`select now() - ${LONGEST_TRANSACTION}::interval as at`.execute(db)
  const { rows } = await sql<{ accountId: string, isHidden: boolean, erasureId: string | null }>`
    select account_id as "accountId", bool_or(is_hidden) as "isHidden", max(erasure_id::text)::uuid as "erasureId"
    from (
      select id as account_id, true as is_hidden, null::uuid as erasure_id from accounts
      where expired_at is null and (leaving_at is not null or paused_at is not null or banned_at is not null
        or restricted_until is not null)
      union all
      (select distinct on (account_id) account_id, false, id from erasures
      where status in ('RUNNING', 'ERASED', 'CLOSED') and begun_at > now() - ${LEDGER_LIFE}::interval
      order by account_id, begun_at desc)
    ) listed
    where ${after}::uuid is null or account_id > ${after}::uuid
    group by account_id order by account_id limit ${sql.lit(PAGE_SIZE)}`.execute(db)
  return {
    at: clock!.at,
    departures: rows,
    next: rows.length === PAGE_SIZE ? rows.at(-1)!.accountId : null
  }
}

/** The erasure of an account that is scheduled, held or running. */
export async function findLiveErasure (db: Db, accountId: string) {
  return await db.selectFrom('erasures').where('account_id', '=', accountId)
    .where('status', 'in', ['SCHEDULED', 'HELD', 'RUNNING']).select('id').executeTakeFirst()
}

/** An erasure with what the services have confirmed so far. */
export async function findErasure (db: Db, id: string) {
  const erasure = await db.selectFrom('erasures').where('id', '=', id).select(erasureColumns).executeTakeFirst()
  if (!erasure) return
  const confirmations = await db.selectFrom('erasure_confirmations').where('erasure_id', '=', id)
    .select(['service', 'rows', 'files', 'kept', 'sweeps_left as sweepsLeft', 'confirmed_at as confirmedAt'])
    .orderBy('service').execute()
  return { ...erasure, confirmations }
}

export type Erasure = NonNullable<Awaited<ReturnType<typeof findErasure>>>

/** Named, because `*` breaks prepared statements as soon as a migration adds a column. */
const erasureColumns = [
  'id',
  'account_id as accountId',
  'cause',
  'status',
  'requested_at as requestedAt',
  'erase_at as eraseAt',
  'announced_at as announcedAt',
  'begun_at as begunAt',
  'erased_at as erasedAt',
  'closed_at as closedAt',
  'canceled_at as canceledAt',
  'reminded_at as remindedAt',
  'providers',
  'has_subscription as hasSubscription',
  'manage_url as manageUrl',
  'hold_reason as holdReason',
  'held_until as heldUntil'
] as const
