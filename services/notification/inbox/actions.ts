import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { NoticeNotFound } from '../errors.ts'
import type { Db, Trx } from '../schema.ts'
import { kinds } from './kinds.ts'
import { planNotice, type Planned, type Telling } from './planning.ts'
import { findRecipients } from './recipients.ts'
import { lockInboxes, removeNotices } from './withdrawals.ts'

/** A delivery that a worker is to be told of. */
export interface Waiting { id: string, dueAt: Date, low: boolean }

/** Writes what somebody is told and has it pushed. Heard again, it finds what it wrote and offers the same pushes. */
export async function tell (deps: Deps, telling: Telling, happenedAt: Date) {
  const recipients = await findRecipients(deps, { to: telling.to, actorId: telling.actorId ?? null })
  if (recipients.length === 0) return
  const now = deps.now()
  const plans = recipients.map((recipient) => planNotice(telling, recipient, { now, happenedAt }))
  const { told, waiting } = await writeNotices(deps.db, telling, plans)
  // Perhaps whoever wrote the notice died before he could offer its pushes.
  const repeated = told === plans.length ? [] : await listWaiting(deps.db, telling.cause, telling.to)
  await deps.pushes.offer([...waiting, ...repeated])
}

/**
 * Writes notices, counts them and writes their deliveries, all or nothing, in one statement; those whose cause was told already are left out.
 * @returns how many were written, and the deliveries to be offered once this is committed
 */
export async function writeNotices (db: Db | Trx, telling: Telling, plans: Planned[], { low = false } = {}) {
  const { kind, cause, actorId = null, subjectId = null, data = {}, params = {} } = telling
  // In one order, so that two crowds that are told at once cannot deadlock over their inboxes.
  const sorted = plans.toSorted((a, b) => a.accountId < b.accountId ? -1 : 1)
  const deliveries = sorted.flatMap(({ noticeId, accountId, deliveries }) => deliveries.map((each) => ({ ...each, noticeId, accountId })))
  const { rows } = await sql<Waiting | { id: null, told: number }>`
    with told as (
      insert into notices (id, account_id, cause, kind, type, actor_id, subject_id, data, params, listed)
      select planned.id, account_id, ${cause}, ${kind}, ${kinds[kind]}, ${actorId}::uuid, ${subjectId}::uuid,
        ${JSON.stringify(data)}::jsonb, ${JSON.stringify(params)}::jsonb, listed
      from unnest(${sorted.map((each) => each.noticeId)}::uuid[], ${sorted.map((each) => each.accountId)}::uuid[], ${sorted.map((each) => each.listed)}::boolean[])
        as planned (id, account_id, listed)
      where not exists (select from ended_matches where match_id = ${subjectId}::uuid)
      on conflict (account_id, cause) do nothing
      returning id, account_id, listed
    ), counted as (
      insert into inboxes (account_id, unread) select account_id, 1 from told where listed order by account_id
      on conflict (account_id) do update set unread = inboxes.unread + 1
    ), sent as (
      insert into deliveries (id, notice_id, account_id, device_id, device_name, platform, low, status, reason, due_at, finished_at)
      select planned.id, notice_id, planned.account_id, device_id, device_name, platform, ${low}::boolean, status, reason, due_at,
        case when status = 'muted' then now() end
      from unnest(
        ${deliveries.map((each) => each.id)}::uuid[], ${deliveries.map((each) => each.noticeId)}::uuid[], ${deliveries.map((each) => each.accountId)}::uuid[],
        ${deliveries.map((each) => each.deviceId)}::uuid[], ${deliveries.map((each) => each.deviceName)}::text[], ${deliveries.map((each) => each.platform)}::text[],
        ${deliveries.map((each) => each.status)}::text[], ${deliveries.map((each) => each.reason)}::text[], ${deliveries.map((each) => each.dueAt)}::timestamptz[]
      ) as planned (id, notice_id, account_id, device_id, device_name, platform, status, reason, due_at)
      join told on told.id = planned.notice_id
      returning id, due_at as "dueAt", low, status
    )
    select id, "dueAt", low, null::integer as told from sent where status in ('pending', 'held')
    union all select null, null, null, count(*)::integer from told`.execute(db)
  const waiting = rows.filter((row): row is Waiting => row.id !== null)
  const told = rows.find((row): row is { id: null, told: number } => row.id === null)?.told ?? 0
  return { told, waiting }
}

async function listWaiting (db: Db, cause: string, accountIds: string[]): Promise<Waiting[]> {
  return await db.selectFrom('deliveries').innerJoin('notices', 'notices.id', 'notice_id')
    .where('notices.account_id', 'in', accountIds)
    .where('notices.cause', '=', cause)
    .where('status', 'in', ['pending', 'held'])
    .select(['deliveries.id', 'due_at as dueAt', 'low'])
    .execute()
}

/** Marks notices as read, all of them unless told which; returns how many were not read before. */
export async function readNotices (db: Db, accountId: string, ids?: string[]) {
  return await db.transaction().execute(async (trx) => {
    await lockInboxes(trx, [accountId])
    const { rows } = await sql<{ updated: number }>`
      with seen as (
        update notices set read_at = now()
        where account_id = ${accountId} and listed and removed_at is null and read_at is null
          ${ids ? sql`and id = any(${ids}::uuid[])` : sql``}
        returning id
      ), counted as (
        update inboxes set unread = unread - (select count(*)::integer from seen) where account_id = ${accountId}
      )
      select count(*)::integer as updated from seen`.execute(trx)
    return rows[0]?.updated ?? 0
  })
}

/** @throws NoticeNotFound */
export async function removeNotice (db: Db, accountId: string, id: string) {
  const removed = await db.transaction().execute(async (trx) => await removeNotices(trx, [accountId], sql`id = ${id} and listed`))
  if (removed === 0) throw new NoticeNotFound()
}
