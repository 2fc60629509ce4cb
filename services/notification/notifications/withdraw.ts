import { randomUUIDv7 } from 'node:crypto'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { type Kind, typeOf } from '../texts/kinds.ts'
import { changeInbox } from './change-inbox.ts'
import { removeNotifications } from './removal.ts'

/** Which notifications are withdrawn. */
export interface Scope {
  /** What they are about. */
  subject: string
  /** Only those in the inbox of this account. */
  accountId?: string
  /** Only those of what this account did. */
  actorId?: string
  /** Except in the inbox of the person whose post it is. */
  sparesOwner?: boolean
  /**
   * Whether it does not exist any more, so that no event about it counts. Somebody can like a post at the moment in which
   * it is deleted: that event may be the later one.
   */
  isGone?: boolean
}

// Stands for every account: null is never equal to null.
const ANYBODY = '00000000-0000-0000-0000-000000000000'
const AFTER_ALL_EVENTS = Number.MAX_SAFE_INTEGER

/**
 * Withdraws notifications from inboxes, because what they report is no longer so. Those of earlier events that arrive
 * later are not created; those of later events stay.
 * @param sequence of the event that withdraws. Events about one subject are of one service, which numbers them
 */
export async function withdraw (deps: Pick<Deps, 'db' | 'wakeUp' | 'pushes'>, scopes: Scope[], sequence: number) {
  if (scopes.length === 0) return
  await changeInbox(deps, async (trx) => await withdrawWithin(trx, scopes, sequence))
}

/** Does the same within a transaction. */
export async function withdrawWithin (trx: Trx, scopes: Scope[], sequence: number) {
  await lockSubjects(trx, scopes.map(({ subject }) => subject), 'ALONE')
  await insertWithdrawals(trx, scopes, sequence)
  const isWithdrawn = sql<SqlBool>`(
    subjects && ${lookupArray(scopes.map(({ subject }) => subject), 'text')} and cardinality(subjects) > 0
    and exists (select from ${unnestScopes(scopes, sequence)} where ${isInScope(sql`notifications`)}))`
  const { rows } = await sql<{ accountId: string }>`
    select distinct account_id as "accountId" from notifications where not withdrawn and ${isWithdrawn}`.execute(trx)
  return await removeNotifications(trx, rows.map(({ accountId }) => accountId), isWithdrawn, { withdrawn: true })
}

/**
 * Locks what notifications are about until the end of the transaction. Creating some takes a SHARED lock. Withdrawing or
 * rewriting them takes it ALONE, so that none is being created meanwhile. Subjects are locked before inboxes, and in one
 * order, so that no two deadlock.
 */
export async function lockSubjects (trx: Trx, subjects: string[], mode: 'SHARED' | 'ALONE') {
  if (subjects.length === 0) return
  const lock = mode === 'SHARED' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`
  await sql`select ${lock}(key) from (
    select distinct hashtextextended(subject, 0) as key from unnest(${subjects}::text[]) subject order by key offset 0
  ) keys`.execute(trx)
}

/** An erased account leaves no row behind: its own erasure causes some of these events. */
async function insertWithdrawals (trx: Trx, scopes: Scope[], sequence: number) {
  await sql`
    insert into withdrawals (subject, account_id, actor_id, spares_owner, sequence)
    select distinct subject, account_id, actor_id, spares_owner, sequence from ${unnestScopes(scopes, sequence)}
    where not exists (select from departures where departures.account_id in (scope.account_id, scope.actor_id))
    order by 1, 2, 3, 4
    on conflict (subject, account_id, actor_id, spares_owner) do update
      set sequence = greatest(withdrawals.sequence, excluded.sequence), withdrawn_at = now()`.execute(trx)
}

/** Scopes as rows, in the form of the table of withdrawals. */
const unnestScopes = (scopes: Scope[], sequence: number) =>
  sql`unnest(
    ${lookupArray(scopes.map(({ subject }) => subject), 'text')},
    ${lookupArray(scopes.map(({ accountId = ANYBODY }) => accountId), 'uuid')},
    ${lookupArray(scopes.map(({ actorId = ANYBODY }) => actorId), 'uuid')},
    ${lookupArray(scopes.map(({ sparesOwner = false }) => sparesOwner), 'boolean')},
    ${lookupArray(scopes.map(({ isGone }) => isGone ? AFTER_ALL_EVENTS : sequence), 'bigint')}
  ) as scope (subject, account_id, actor_id, spares_owner, sequence)`

/** Whether the row `scope` withdraws a notification, stored or planned. */
const isInScope = (notification: RawBuilder<unknown>) =>
  sql<SqlBool>`(
    scope.subject = any(${notification}.subjects)
    and scope.account_id in (${ANYBODY}::uuid, ${notification}.account_id)
    and scope.actor_id in (${ANYBODY}::uuid, ${notification}.actor_id)
    and not (scope.spares_owner and ${notification}.account_id is not distinct from ${notification}.owner_id)
    and scope.sequence > ${notification}.sequence)`

/** Whether a later event than that of a planned notification has withdrawn it. */
export const isAlreadyWithdrawn = (planned: RawBuilder<unknown>) =>
  sql<SqlBool>`exists (select from withdrawals scope where ${isInScope(planned)})`

interface Tombstone {
  accountId: string
  kind: Kind
  dedupeKey: string
}

/** The row of a notification that must never be created: it occupies the dedupe key. */
export const tombstone = ({ accountId, kind, dedupeKey }: Tombstone) => ({
  id: randomUUIDv7(),
  account_id: accountId,
  dedupe_key: dedupeKey,
  kind,
  type: typeOf(kind),
  data: '{}',
  params: '{}',
  listed: false,
  removed_at: sql<Date>`now()`
})
