import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import type { KeptFrameType, WakeUpSignal } from '@tandem/contracts/realtime'
import type { Trx } from '../tables.ts'

/** Of notifications or messages. A longer list would make a frame that no page can hold. */
export const MAX_IDS_PER_FRAME = 500

/** A frame to log. It holds ids only; `readFeeds` reads the rest when the frame is delivered. */
export interface NewFrame {
  accountId: string
  type: KeptFrameType
  ids: Record<string, unknown>
  /** Of frames with the same key, an account gets one. */
  key?: string
  at?: Date
}

/** Brings a notification that has changed to the account that has it. */
export const changedFrame = (accountId: string, dedupeKey: string): NewFrame => ({
  accountId,
  type: 'notification.created',
  ids: { dedupeKey }
})

/**
 * Logs the frames of accounts whose log was read within a day. Returns the newest number of each of these accounts, for
 * `changeInbox` to wake their connections. Numbers can have gaps, as a repeated frame takes one as well. Frames of
 * several accounts need `lockInboxes` first, so that no two transactions deadlock.
 */
export async function logFrames (trx: Trx, frames: NewFrame[]): Promise<WakeUpSignal> {
  if (frames.length === 0) return []
  const framesOf = Map.groupBy(frames, ({ accountId }) => accountId)
  const signal = await takeNumbers(trx, [...framesOf].map(([accountId, own]) => [accountId, own.length]))
  if (signal.length === 0) return []
  await insertFrames(
    trx,
    signal.flatMap(([accountId, last]) => {
      const own = framesOf.get(accountId)!
      return own.map((frame, index) => ({ ...frame, seq: last - own.length + index + 1 }))
    })
  )
  return signal
}

/** Takes as many numbers as an account gets frames, for accounts whose log is read. Returns their last ones. */
async function takeNumbers (trx: Trx, counts: [accountId: string, frames: number][]): Promise<WakeUpSignal> {
  const { rows } = await sql<{ accountId: string, seq: number }>`
    update inboxes set realtime_seq = realtime_seq + new.frames
    from unnest(
      ${lookupArray(counts.map(([accountId]) => accountId), 'uuid')},
      ${lookupArray(counts.map(([, frames]) => frames), 'integer')}
    ) as new (account_id, frames)
    where inboxes.account_id = new.account_id and realtime_until > now()
    returning inboxes.account_id as "accountId", realtime_seq as seq`.execute(trx)
  return rows.map(({ accountId, seq }) => [accountId, seq])
}

async function insertFrames (trx: Trx, frames: (NewFrame & { seq: number })[]) {
  const rows = frames.map(({ accountId, key, ...frame }) => ({ account_id: accountId, frame_key: key, ...frame }))
  await sql`
    insert into realtime_frames (account_id, seq, type, frame_key, ids, at)
    select account_id, seq, type, frame_key, ids, coalesce(at, now())
    from json_populate_recordset(null::realtime_frames, ${JSON.stringify(rows)})
    on conflict (account_id, frame_key) where frame_key is not null do nothing`.execute(trx)
}
