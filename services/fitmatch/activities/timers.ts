import { sql } from 'kysely'
import { isHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { ActivityReminded } from '@tandem/contracts'
import { findNextDue, workLocked } from '@tandem/database-kit'
import { runWhenDue, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { moveMeetings } from '../meetings/actions.ts'
import { disarmBefore } from '../meetings/endings.ts'
import type { Db, TimerKind, Trx } from '../tables.ts'
import { publishAttended } from './attendance.ts'
import { lockedColumns, type LockedActivity } from './locks.ts'
import { eventFieldsOf, listAccounts, releasePlaces } from './places.ts'
import { FINAL_BEFORE_MS, HOUR_MS } from './times.ts'

const MAX_INTERVAL_MS = 5_000
const BATCH_SIZE = 100
const reminderHours = { REMIND_24H: 24, REMIND_1H: 1 } as const

const isReminder = (kind: TimerKind): kind is keyof typeof reminderHours => kind in reminderHours

/** Plans what happens before and after the end of a locked activity. Reminders that would be due already are left out. */
export async function replaceTimers (trx: Trx, { id, startsAt, endsAt }: LockedActivity, now: Date) {
  await moveMeetings(trx, id, endsAt)
  const before = (ms: number) => new Date(startsAt.getTime() - ms)
  const timers = ([
    { kind: 'REMIND_24H', due_at: before(24 * HOUR_MS) },
    { kind: 'REMIND_1H', due_at: before(HOUR_MS) },
    { kind: 'RELEASE', due_at: before(FINAL_BEFORE_MS) },
    { kind: 'FINISH', due_at: endsAt }
  ] as const).filter(({ kind, due_at }) => !isReminder(kind) || due_at > now)
  await trx.deleteFrom('activity_timers').where('activity_id', '=', id).execute()
  await trx.insertInto('activity_timers').values(timers.map((timer) => ({ activity_id: id, ...timer }))).execute()
}

/** Runs the timers of activities when they are due. */
export const startActivityTimers = ({ db, now }: Deps, log: Log) =>
  runWhenDue(async () => await runDueTimers(db, now), {
    findNext: async () => await findNextDue(db, 'activity_timers', 'due_at'),
    maxIntervalMs: MAX_INTERVAL_MS,
    now,
    log
  }).stop

/** Runs every due timer once. @throws the errors of those that failed, which stay due, after all others have run */
export async function runDueTimers (db: Db, now: () => Date) {
  const at = now()
  await workLocked(db, {
    // An activity that another transaction is changing is left for the next second. Waiting for it could deadlock.
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('activity_timers').innerJoin('activities', 'activities.id', 'activity_id')
        .where('due_at', '<=', at)
        .where('activity_id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select(['kind', ...lockedColumns])
        .orderBy('due_at').limit(BATCH_SIZE)
        .forUpdate().skipLocked()
        .execute(),
    async work (trx, timers) {
      for (const { kind, ...activity } of timers) await runTimer(trx, kind, activity, at)
      await sql`delete from activity_timers using unnest(
          ${timers.map(({ id }) => id)}::uuid[], ${timers.map(({ kind }) => kind)}::text[]) as done (activity_id, kind)
        where activity_timers.activity_id = done.activity_id and activity_timers.kind = done.kind`.execute(trx)
    }
  })
}

async function runTimer (trx: Trx, kind: TimerKind, activity: LockedActivity, now: Date) {
  if (kind === 'FINISH') return await finish(trx, activity)
  if (kind === 'RELEASE') return await releaseReserved(trx, activity)
  // A reminder that runs late is dropped if the next one is due too, or the activity has started.
  const pointlessFromMs = activity.startsAt.getTime() - (kind === 'REMIND_24H' ? HOUR_MS : 0)
  // The guests cannot see the activity of a hidden host.
  if (now.getTime() >= pointlessFromMs || await isHidden(trx, activity.hostId)) return
  await publish(trx, ActivityReminded, activity.id, {
    ...eventFieldsOf(activity),
    hostId: activity.hostId,
    accountIds: await listAccounts(trx, activity.id, ['GOING']),
    hoursBefore: reminderHours[kind]
  })
}

async function finish (trx: Trx, activity: LockedActivity) {
  await trx.updateTable('activities').set({ status: 'FINISHED' }).where('id', '=', activity.id).execute()
  const present = await trx.selectFrom('activity_participants').where('activity_id', '=', activity.id)
    .where('checked_in_at', 'is not', null).where('attended_at', 'is', null)
    .select('account_id as accountId').orderBy('account_id')
    .execute()
  for (const { accountId } of present) await publishAttended(trx, activity, accountId)
}

/**
 * Frees the places of people who went before a change and have not answered. They stay invited, and nobody expects them
 * to report back any more.
 */
async function releaseReserved (trx: Trx, activity: LockedActivity) {
  const released = await trx.updateTable('activity_participants').set({ was_going: false })
    .where('activity_id', '=', activity.id).where('was_going', '=', true)
    .returning('account_id as accountId').execute()
  const accountIds = released.map(({ accountId }) => accountId)
  await disarmBefore(trx, { activityId: activity.id, accountIds, before: '0 hours' })
  await releasePlaces(trx, activity, released.length)
}
