import { sql } from 'kysely'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import { lookupArray } from '@tandem/database-kit'
import { createBatcher, currentCorrelation, isTransient, settleEach, type Correlation } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import type { Db } from '../tables.ts'
import { typeOf } from '../texts/kinds.ts'
import { planNotification, type DeliveryJob, type NotificationRequest, type PlannedNotification } from './plan.ts'
import { findRecipients } from './recipients.ts'
import { insertNumbered, logFramesNow, wakeAfterCommit } from '../frames/log.ts'
import { framesOf } from './frames.ts'
import { isSubjectDeleted, isTextOutdated } from './withdraw.ts'

type NotifierDeps = Pick<Deps, 'db' | 'findPeople' | 'pushes' | 'now' | 'wakeUp'>

interface DatedRequest {
  request: NotificationRequest
  occurredAt: Date
  /** Not that of the batch: the code that runs it belongs to only one of its requests. */
  correlation: Correlation
}

/** How long a process owns a delivery that it claimed: longer than two attempts at the provider can take. */
export const LEASE_SECONDS = 30

/**
 * Returns a function that creates the notifications of one request, and sends or enqueues their pushes. It can be called
 * again with the same request: it then finds the notifications that exist and enqueues the same pushes. Requests that
 * arrive while others are being written are written together, all or nothing. A request that cannot be written, or one
 * of its recipients, does not make the others fail.
 */
export function createNotifier (deps: NotifierDeps): (request: NotificationRequest, occurredAt: Date) => Promise<void> {
  const write = createBatcher(async (batch: DatedRequest[]) => await createNotifications(deps, batch), {
    isItemError,
    waitsForTurn: true
  })
  const enqueue = createBatcher(async (batch: DeliveryJob[][]) => {
    await deps.pushes.enqueue(batch.flat())
    return batch.map(() => undefined)
  })
  const notify = async (request: NotificationRequest, occurredAt: Date) =>
    await write({ request, occurredAt, correlation: currentCorrelation() })

  return async (request, occurredAt) => {
    const jobs: DeliveryJob[] = []
    try {
      jobs.push(...await notify(request, occurredAt))
    } catch (error) {
      if (request.to.length < 2 || !isItemError(error)) throw error
      // One recipient is at fault. The others are notified; the event is delivered again, and finds theirs.
      await settleEach(request.to, async (accountId) => {
        const own = await notify({ ...request, to: [accountId] }, occurredAt)
        if (own.length > 0) await enqueue(own)
      }, { concurrency: request.to.length })
    }
    if (jobs.length > 0) await enqueue(jobs)
  }
}

// An unknown account while profile is unavailable, or a value that Postgres or the code rejects: the fault of a single
// request, or of one of its recipients.
const isItemError = (error: unknown) => !(error instanceof Error && isTransient(error))

/**
 * Creates the notifications of several requests, and sends their pushes as long as slots are free. Returns for each
 * request the deliveries to enqueue.
 */
async function createNotifications (deps: NotifierDeps, batch: DatedRequest[]): Promise<DeliveryJob[][]> {
  const recipients = await findRecipients(
    deps,
    batch.map(({ request: { to, actorId = null, kind } }) => ({
      to,
      actorId,
      isAboutAccount: typeOf(kind) === 'ACCOUNT'
    }))
  )
  const now = deps.now()
  const plans = batch.map(({ request, occurredAt }, number) =>
    recipients[number]!.map((recipient) => planNotification(request, recipient, { now, occurredAt }))
  )
  const all = plans.flat()
  if (all.length === 0) return batch.map(() => [])
  const { created, jobs, claimed, signal } = await insertNotifications(deps.db, all, {
    maxClaims: deps.pushes.freeSlots()
  })
  const correlations = new Map(batch.map(({ request, correlation }) => [request, correlation]))
  deps.pushes.sendClaimed(
    all.flatMap(({ notificationId, request }) =>
      (claimed.get(notificationId) ?? []).map((job) => ({ ...job, correlation: correlations.get(request) }))
    )
  )
  if (signal.length > 0) deps.wakeUp(signal)
  const existing = all.filter((plan) => !created.has(plan.notificationId))
  // A message that was read before its event arrived has no notification, but is shown to other devices.
  await logFramesNow(deps, existing.flatMap(framesOf))
  // The process that inserted the notification may have crashed before it enqueued the pushes.
  const unfinished = await listUnfinished(deps.db, existing)
  return plans.map((own, number) =>
    own.flatMap(({ notificationId, accountId, request: { dedupeKey } }) =>
      created.has(notificationId) ? jobs.get(notificationId) ?? [] : unfinished.get(`${accountId} ${dedupeKey}`) ?? []
    ).map((job) => ({ ...job, correlation: batch[number]!.correlation }))
  )
}

type Row =
  | DeliveryJob & { notificationId: string, isClaimed: boolean, seq: null }
  | { notificationId: string, id: null, seq: null }
  | { notificationId: null, id: null, accountId: string, seq: number }

interface InsertOptions {
  lowPriority?: boolean
  /** How many of the pushes that are due now this process claims, to send them itself. */
  maxClaims?: number
}

/**
 * Inserts notifications with their deliveries, counts them as unread, and logs the frames of accounts whose log was read
 * within a day: all or nothing, in one statement. Notifications whose dedupe key exists are left out.
 * @returns the ids of the created notifications, and for each id the deliveries to enqueue after the commit, and those
 *   that are claimed; and the signal for the connections, which `changeInbox` sends by itself
 */
export async function insertNotifications (
  db: Db,
  plans: PlannedNotification[],
  { lowPriority = false, maxClaims = 0 }: InsertOptions = {}
) {
  const deliveries = plans.flatMap(({ notificationId, deliveries }) =>
    deliveries.map((each) => ({ ...each, notificationId }))
  )
  const frames = plans.flatMap((plan) =>
    framesOf(plan).map((frame) => ({ ...frame, notificationId: plan.notificationId }))
  )
  const claimable = new Set(deliveries.filter(({ status }) => status === 'pending').slice(0, maxClaims))
  const requests = [...new Set(plans.map(({ request }) => request))]
  const numbers = new Map(requests.map((request, number) => [request, number]))
  // Always in the same order, so that two concurrent batches cannot deadlock over unread counts.
  const { rows } = await sql<Row>`
    with created as (
      insert into notifications (
        id, account_id, dedupe_key, kind, type, actor_id, subject_id, data, params, listed, occurred_at
      )
      select planned.id, account_id, dedupe_key, kind, type, actor_id, subject_id, data::jsonb,
        case when ${isTextOutdated(sql`request.subject_id`, sql`planned.occurred_at`)}
          then params::jsonb || '{"excerpt": null}' else params::jsonb end,
        listed, occurred_at
      from unnest(
        ${lookupArray(plans.map((each) => each.notificationId), 'uuid')},
        ${lookupArray(plans.map((each) => each.accountId), 'uuid')},
        ${lookupArray(plans.map((each) => each.listed), 'boolean')},
        ${lookupArray(plans.map((each) => each.occurredAt), 'timestamptz')},
        ${lookupArray(plans.map((each) => numbers.get(each.request)), 'integer')}
      ) as planned (id, account_id, listed, occurred_at, request)
      join unnest(
        ${lookupArray(requests.map((_, number) => number), 'integer')},
        ${lookupArray(requests.map((each) => each.dedupeKey), 'text')},
        ${lookupArray(requests.map((each) => each.kind), 'text')},
        ${lookupArray(requests.map((each) => typeOf(each.kind)), 'text')},
        ${lookupArray(requests.map((each) => each.actorId ?? null), 'uuid')},
        ${lookupArray(requests.map((each) => each.subjectId ?? null), 'uuid')},
        ${lookupArray(requests.map((each) => JSON.stringify(each.data ?? {})), 'text')},
        ${lookupArray(requests.map((each) => JSON.stringify(each.params ?? {})), 'text')}
      ) as request (number, dedupe_key, kind, type, actor_id, subject_id, data, params)
        on request.number = planned.request
      where not ${isSubjectDeleted(sql`request.subject_id`, sql`request.data::jsonb`)}
        and not exists (select from ended_participations ended
          where ended.activity_id = request.subject_id and ended.account_id = planned.account_id
            and ended.ended_at > planned.occurred_at)
      order by account_id, dedupe_key
      on conflict (account_id, dedupe_key) do nothing
      returning id, account_id, listed
    ), new_frames as (
      select planned.account_id, type, frame_key, ids, number
      from unnest(
        ${lookupArray(frames.map((each) => each.notificationId), 'uuid')},
        ${lookupArray(frames.map((each) => each.accountId), 'uuid')},
        ${lookupArray(frames.map((each) => each.type), 'text')},
        ${lookupArray(frames.map((each) => each.key), 'text')},
        ${lookupArray(frames.map((each) => JSON.stringify(each.ids)), 'text')}
      ) with ordinality as planned (notification_id, account_id, type, frame_key, ids, number)
      join created on created.id = planned.notification_id
    ), changes as (
      select account_id, sum(unread)::integer as unread, sum(frames)::integer as frames
      from (
        select account_id, 1 as unread, 0 as frames from created where listed
        union all
        select account_id, 0, 1 from new_frames
      ) each
      group by account_id
    ), counted as (
      insert into unread_counts (account_id, unread, realtime_seq)
      select account_id, unread, frames from changes
      where unread > 0 or exists (
        select from unread_counts live where live.account_id = changes.account_id and live.realtime_until > now()
      )
      order by account_id
      on conflict (account_id) do update set
        unread = unread_counts.unread + excluded.unread,
        realtime_seq = unread_counts.realtime_seq + excluded.realtime_seq
      returning account_id, realtime_seq as seq, realtime_until > now() as is_live
    ), logged as (${
    insertNumbered(
      sql`new_frames join changes using (account_id) join counted using (account_id) where is_live`,
      sql`now()`
    )
  }), inserted as (
      insert into deliveries (
        id, notification_id, account_id, device_id, device_name, platform,
        low_priority, status, reason, due_at, finished_at, attempts, claimed_until
      )
      select planned.id, notification_id, created.account_id, device_id, device_name, platform,
        ${lowPriority}::boolean, status, reason, due_at, case when status = 'muted' then now() end,
        claimed::integer, case when claimed then now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)}) end
      from unnest(
        ${lookupArray(deliveries.map((each) => each.id), 'uuid')},
        ${lookupArray(deliveries.map((each) => each.notificationId), 'uuid')},
        ${lookupArray(deliveries.map((each) => each.deviceId), 'uuid')},
        ${lookupArray(deliveries.map((each) => each.deviceName), 'text')},
        ${lookupArray(deliveries.map((each) => each.platform), 'text')},
        ${lookupArray(deliveries.map((each) => each.status), 'text')},
        ${lookupArray(deliveries.map((each) => each.reason), 'text')},
        ${lookupArray(deliveries.map((each) => each.dueAt), 'timestamptz')},
        ${lookupArray(deliveries.map((each) => claimable.has(each)), 'boolean')}
      ) as planned (id, notification_id, device_id, device_name, platform, status, reason, due_at, claimed)
      join created on created.id = planned.notification_id
      returning id, notification_id, due_at, low_priority, status, claimed_until
    )
    select notification_id as "notificationId", id, due_at as "dueAt", low_priority as "lowPriority",
      claimed_until is not null as "isClaimed", null as "accountId", null as seq
    from inserted where status in ('pending', 'held')
    union all
    select null, null, null, null, null, account_id, seq
    from counted join changes using (account_id) where is_live and frames > 0
    union all
    select id, null, null, null, null, null, null from created`.execute(db)
  const inserted = rows.filter((row) => row.id !== null)
  const signal = rows.flatMap((row): WakeUpSignal => row.seq === null ? [] : [[row.accountId, row.seq]])
  wakeAfterCommit(db, signal)
  return {
    created: new Set(rows.filter((row) => row.id === null && row.seq === null).map((row) => row.notificationId)),
    signal,
    jobs: Map.groupBy(inserted.filter((row) => !row.isClaimed), (row) => row.notificationId),
    claimed: Map.groupBy(inserted.filter((row) => row.isClaimed), (row) => row.notificationId)
  }
}

/** The unfinished deliveries of notifications that existed before, by account and dedupe key. */
async function listUnfinished (db: Db, plans: PlannedNotification[]): Promise<Map<string, DeliveryJob[]>> {
  if (plans.length === 0) return new Map()
  const { rows } = await sql<DeliveryJob & { key: string }>`
    select deliveries.id, due_at as "dueAt", low_priority as "lowPriority",
      notifications.account_id || ' ' || notifications.dedupe_key as key
    from unnest(
      ${plans.map((each) => each.accountId)}::uuid[],
      ${plans.map((each) => each.request.dedupeKey)}::text[]
    ) as requested (account_id, dedupe_key)
    join notifications on notifications.account_id = requested.account_id
      and notifications.dedupe_key = requested.dedupe_key
    join deliveries on notification_id = notifications.id
    where status in ('pending', 'held')`.execute(db)
  return Map.groupBy(rows, ({ key }) => key)
}
