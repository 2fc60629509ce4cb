import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { Unavailable } from '@tandem/bus-kit'
import { createBatcher } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { NoticeNotFound } from '../errors.ts'
import type { Waiting } from '../push/pushes.ts'
import type { Db, Trx } from '../tables.ts'
import { kinds } from './kinds.ts'
import { planNotification, type Planned, type NotificationRequest } from './planning.ts'
import { findRecipients } from './recipients.ts'
import { messageCause } from './registry.ts'
import { isGone, lockInboxes, removeNotices, tombstone } from './withdrawals.ts'

/** What is told because of something that happened once. */
export interface NotificationRequested { telling: NotificationRequest, happenedAt: Date }

/** Writes what people are told and has it pushed. Heard again, it finds what it wrote and offers the same pushes. */
export async function notify (deps: Deps, telling: NotificationRequest, happenedAt: Date) {
  const [waiting = []] = await tellMany(deps, [{ telling, happenedAt }])
  await deps.pushes.offer(waiting)
}

/**
 * Gives what does the same for a crowd of events: those that come while others are being written are written together, all or nothing,
 * and one that cannot be written is no reason for the others to fail.
 */
export function createNotifier (deps: Deps): (telling: NotificationRequest, happenedAt: Date) => Promise<void> {
  const write = createBatcher(async (told: NotificationRequested[]) => await tellMany(deps, told), { isItemError })
  const offer = createBatcher(async (waiting: Waiting[][]) => {
    await deps.pushes.offer(waiting.flat())
    return waiting.map(() => undefined)
  })
  return async (telling, happenedAt) => {
    const waiting = await write({ telling, happenedAt })
    if (waiting.length > 0) await offer(waiting)
  }
}

// Somebody of one event is unknown and whoever knows him is away, or Postgres does not take what one says.
const isItemError = (error: unknown) => error instanceof Unavailable || /^2[23]/.test(String((error as { code?: unknown }).code))

/** Writes what people are told; returns for each telling the deliveries to be offered. */
async function tellMany (deps: Deps, told: NotificationRequested[]): Promise<Waiting[][]> {
  const recipients = await findRecipients(deps, told.map(({ telling: { to, actorId = null } }) => ({ to, actorId })))
  const now = deps.now()
  const plans = told.map(({ telling, happenedAt }, number) =>
    recipients[number]!.map((recipient) => planNotification(telling, recipient, { now, happenedAt })))
  const all = plans.flat()
  if (all.length === 0) return told.map(() => [])
  const { told: written, waiting } = await writeNotices(deps.db, all)
  // Perhaps whoever wrote the notice died before he could offer its pushes.
  const before = await listWaiting(deps.db, all.filter((plan) => !written.has(plan.noticeId)))
  return plans.map((own) => own.flatMap(({ noticeId, accountId, telling: { cause } }) =>
    written.has(noticeId) ? waiting.get(noticeId) ?? [] : before.get(`${accountId} ${cause}`) ?? []))
}

type Row = Waiting & { noticeId: string } | { noticeId: string, id: null }

/**
 * Writes notices, counts them and writes their deliveries, all or nothing, in one statement; those whose cause was told already are left out.
 * @returns the ids of those that were written, and by these the deliveries to be offered once this is committed
 */
export async function writeNotices (db: Db, plans: Planned[], { low = false } = {}) {
  const deliveries = plans.flatMap(({ noticeId, deliveries }) => deliveries.map((each) => ({ ...each, noticeId })))
  const tellings = [...new Set(plans.map(({ telling }) => telling))]
  const numbers = new Map(tellings.map((telling, number) => [telling, number]))
  // In one order, so that two crowds that are told at once cannot deadlock over their inboxes.
  const { rows } = await sql<Row>`
    with told as (
      insert into notices (id, account_id, cause, kind, type, actor_id, subject_id, data, params, listed)
      select planned.id, account_id, cause, kind, type, actor_id, subject_id, data::jsonb, params::jsonb, listed
      from unnest(
        ${plans.map((each) => each.noticeId)}::uuid[], ${plans.map((each) => each.accountId)}::uuid[], ${plans.map((each) => each.listed)}::boolean[],
        ${plans.map((each) => numbers.get(each.telling))}::integer[]
      ) as planned (id, account_id, listed, telling)
      join unnest(
        ${tellings.map((_, number) => number)}::integer[], ${tellings.map((each) => each.cause)}::text[], ${tellings.map((each) => each.kind)}::text[],
        ${tellings.map((each) => kinds[each.kind])}::text[], ${tellings.map((each) => each.actorId ?? null)}::uuid[],
        ${tellings.map((each) => each.subjectId ?? null)}::uuid[], ${tellings.map((each) => JSON.stringify(each.data ?? {}))}::text[],
        ${tellings.map((each) => JSON.stringify(each.params ?? {}))}::text[]
      ) as telling (number, cause, kind, type, actor_id, subject_id, data, params) on telling.number = planned.telling
      where not ${isGone(sql`telling.subject_id`, sql`telling.data::jsonb`)}
      order by account_id, cause
      on conflict (account_id, cause) do nothing
      returning id, account_id, listed
    ), counted as (
      insert into inboxes (account_id, unread) select account_id, count(*)::integer from told where listed group by account_id order by account_id
      on conflict (account_id) do update set unread = inboxes.unread + excluded.unread
    ), sent as (
      insert into deliveries (id, notice_id, account_id, device_id, device_name, platform, low, status, reason, due_at, finished_at)
      select planned.id, notice_id, told.account_id, device_id, device_name, platform, ${low}::boolean, status, reason, due_at,
        case when status = 'muted' then now() end
      from unnest(
        ${deliveries.map((each) => each.id)}::uuid[], ${deliveries.map((each) => each.noticeId)}::uuid[],
        ${deliveries.map((each) => each.deviceId)}::uuid[], ${deliveries.map((each) => each.deviceName)}::text[], ${deliveries.map((each) => each.platform)}::text[],
        ${deliveries.map((each) => each.status)}::text[], ${deliveries.map((each) => each.reason)}::text[], ${deliveries.map((each) => each.dueAt)}::timestamptz[]
      ) as planned (id, notice_id, device_id, device_name, platform, status, reason, due_at)
      join told on told.id = planned.notice_id
      returning id, notice_id, due_at, low, status
    )
    select notice_id as "noticeId", id, due_at as "dueAt", low from sent where status in ('pending', 'held')
    union all select id, null, null, null from told`.execute(db)
  return {
    told: new Set(rows.filter((row) => row.id === null).map((row) => row.noticeId)),
    waiting: Map.groupBy(rows.filter((row) => row.id !== null), (row) => row.noticeId)
  }
}

/** What still waits of notices that were written before, by whom they tell and their cause. */
async function listWaiting (db: Db, plans: Planned[]): Promise<Map<string, Waiting[]>> {
  if (plans.length === 0) return new Map()
  const { rows } = await sql<Waiting & { key: string }>`
    select deliveries.id, due_at as "dueAt", low, notices.account_id || ' ' || notices.cause as key
    from unnest(${plans.map((each) => each.accountId)}::uuid[], ${plans.map((each) => each.telling.cause)}::text[]) as wanted (account_id, cause)
    join notices on notices.account_id = wanted.account_id and notices.cause = wanted.cause
    join deliveries on notice_id = notices.id
    where status in ('pending', 'held')`.execute(db)
  return Map.groupBy(rows, ({ key }) => key)
}

/** Marks notices as read, all of them unless told which; returns how many were not read before. */
export async function readNotices (db: Db, accountId: string, ids?: string[]) {
  return await db.transaction().execute(async (trx) => await markRead(trx, accountId, ids ? sql`listed and id = any(${ids}::uuid[])` : sql`listed`))
}

/** Messages were read in their chat: what was told of them is read with them, and what comes late of them is not told. */
export async function readMessages (db: Db, { readerId, messageIds }: { readerId: string, messageIds: string[] }) {
  // In the order that notices are written in.
  const causes = messageIds.map(messageCause).sort()
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('notices').values(causes.map((cause) => tombstone({ accountId: readerId, kind: 'messageReceived', cause })))
      .onConflict((conflict) => conflict.columns(['account_id', 'cause']).doNothing())
      .execute()
    await markRead(trx, readerId, sql`cause = any(${causes}::text[])`)
  })
}

/** Marks what was not read yet; returns how many there were in the inbox. */
async function markRead (trx: Trx, accountId: string, which: RawBuilder<SqlBool>) {
  await lockInboxes(trx, [accountId])
  const { rows } = await sql<{ updated: number }>`
    with seen as (
      update notices set read_at = now()
      where account_id = ${accountId} and removed_at is null and read_at is null and ${which}
      returning listed
    ), counted as (
      update inboxes set unread = unread - (select count(*)::integer from seen where listed) where account_id = ${accountId}
    )
    select count(*)::integer as updated from seen where listed`.execute(trx)
  return rows[0]?.updated ?? 0
}

/** @throws NoticeNotFound */
export async function removeNotice (db: Db, accountId: string, id: string) {
  const removed = await db.transaction().execute(async (trx) => await removeNotices(trx, [accountId], sql`id = ${id} and listed`))
  if (removed === 0) throw new NoticeNotFound()
}
