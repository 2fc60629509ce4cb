import { sql, type RawBuilder } from 'kysely'
import type { KeptFrameType, WakeUpSignal } from '@tandem/contracts/realtime'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'

/** A frame to log. It holds ids only; `readFeeds` reads the rest when the frame is delivered. */
export interface NewFrame {
  accountId: string
  type: KeptFrameType
  ids: Record<string, unknown>
  /** Of frames with the same key, an account gets one. */
  key?: string
  at?: Date
}

// What a running transaction has logged: gateways are woken once it is committed.
const uncommitted = new WeakMap<Db, WakeUpSignal>()

/** Runs a transaction, and after the commit wakes the connections of the accounts for which it logged frames. */
export async function changeInbox<Result> (
  { db, wakeUp }: Pick<Deps, 'db' | 'wakeUp'>,
  change: (trx: Trx) => Promise<Result>
): Promise<Result> {
  const signal: WakeUpSignal = []
  const result = await db.transaction().execute(async (trx) => {
    uncommitted.set(trx, signal)
    return await change(trx)
  })
  if (signal.length > 0) wakeUp(signal)
  return result
}

/** Logs frames within `changeInbox`. */
export async function logFrames (trx: Trx, frames: NewFrame[]) {
  wakeAfterCommit(trx, await insertFrames(trx, frames))
}

/** Wakes the connections of accounts for which frames were logged within `changeInbox`; does nothing elsewhere. */
export function wakeAfterCommit (db: Db, signal: WakeUpSignal) {
  uncommitted.get(db)?.push(...signal)
}

/** Logs frames by themselves, and wakes the connections of their accounts. A repeated event wakes them again. */
export async function logFramesNow ({ db, wakeUp }: Pick<Deps, 'db' | 'wakeUp'>, frames: NewFrame[]) {
  const signal = await insertFrames(db, frames)
  if (signal.length > 0) wakeUp(signal)
}

/**
 * The insert of frames that have their numbers: the `frames` new ones of an account end with `seq`.
 * @param frames has the columns of frames, their order as `number`, and `seq` and `frames` of their account
 */
export const insertNumbered = (frames: RawBuilder<unknown>, at: RawBuilder<unknown>) =>
  sql`
  insert into realtime_frames (account_id, seq, type, frame_key, ids, at)
  select account_id, seq - frames + row_number() over (partition by account_id order by number),
    type, frame_key, ids::jsonb, ${at}
  from ${frames}
  on conflict (account_id, frame_key) where frame_key is not null do nothing`

/**
 * Inserts the frames of accounts whose log was read within a day. Returns the newest number of each of these accounts.
 * Numbers can have gaps, as a repeated frame takes one as well.
 */
async function insertFrames (db: Db, frames: NewFrame[]): Promise<WakeUpSignal> {
  if (frames.length === 0) return []
  // Locked in the order in which all changes of inboxes lock these rows, so that no two deadlock.
  const { rows } = await sql<{ accountId: string, seq: number }>`
    with planned as (
      select * from unnest(
        ${frames.map(({ accountId }) => accountId)}::uuid[],
        ${frames.map(({ type }) => type)}::text[],
        ${frames.map(({ key }) => key ?? null)}::text[],
        ${frames.map(({ ids }) => JSON.stringify(ids))}::text[],
        ${frames.map(({ at }) => at ?? null)}::timestamptz[]
      ) with ordinality as planned (account_id, type, frame_key, ids, at, number)
    ), locked as materialized (
      select account_id from unread_counts
      where account_id in (select account_id from planned) and realtime_until > now()
      order by account_id for update
    ), numbered as (
      update unread_counts set realtime_seq = realtime_seq + counts.frames
      from (
        select account_id, count(*) as frames from planned join locked using (account_id) group by account_id
      ) counts
      where unread_counts.account_id = counts.account_id
      returning unread_counts.account_id, realtime_seq as seq, frames
    ), inserted as (${insertNumbered(sql`planned join numbered using (account_id)`, sql`coalesce(at, now())`)})
    select account_id as "accountId", seq from numbered`.execute(db)
  return rows.map(({ accountId, seq }) => [accountId, seq])
}
