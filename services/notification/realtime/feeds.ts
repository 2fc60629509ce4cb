import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import type { KeptFrameType } from '@tandem/contracts/realtime'
import { unreadCountsOf } from '../notifications/shown.ts'
import type { Db } from '../tables.ts'

/** The largest number of frames that are replayed, and of frames in a page. */
export const MAX_REPLAYED_FRAMES = 200
export const PAGE_SIZE = 50

/** The state of the log of one account. */
export interface Feed {
  accountId: string
  epoch: string
  /** The number of the newest frame. */
  head: number
  deletedSeq: number
  unreadCount: number
  locale: string | null
  timezone: string
  /** Whether it is written for most of a day. */
  isFresh: boolean
}

export interface LoggedFrame {
  accountId: string
  seq: number
  type: KeptFrameType
  ids: Record<string, unknown>
  at: Date
}

export const positionOf = (epoch: string, seq: number) => `${epoch}-${seq}`

/** Reads a position; anything else is one of no epoch. */
export function parsePosition (position: string | undefined) {
  const [, epoch = '', seq = ''] = /^([0-9a-f]{16})-(\d{1,15})$/.exec(position ?? '') ?? []
  return { epoch, seq: Number(seq) }
}

/**
 * Whether every frame after this position is still there. Otherwise the client must load the lists again, as after its
 * first connection.
 */
export const canResume = ({ epoch, head, deletedSeq }: Feed, position: { epoch: string, seq: number }) =>
  position.epoch === epoch && position.seq <= head && position.seq >= deletedSeq &&
  head - position.seq <= MAX_REPLAYED_FRAMES

/** What a connection reads: the state of its log, and the frames after its position. */
export interface FeedLog {
  feed: Feed
  /** In order; one more than a page if another page follows. Empty if the position is of another epoch. */
  frames: LoggedFrame[]
}

interface FeedPosition {
  accountId: string
  position: { epoch: string, seq: number }
}

/** Reads logs after positions, and keeps them being written for another day. Results are in the order of `queries`. */
export async function readFeedLogs (db: Db, queries: FeedPosition[]): Promise<FeedLog[]> {
  const logs = await selectFeedLogs(db, queries)
  const stale = queries.filter((_, number) => !logs[number]?.feed.isFresh).map(({ accountId }) => accountId)
  if (stale.length > 0) await renewFeeds(db, [...new Set(stale)].sort())
  return (stale.length > 0 ? await selectFeedLogs(db, queries) : logs).map((log) => log!)
}

interface LogRow extends Feed {
  number: number
  seq: number | null
  type: KeptFrameType
  ids: Record<string, unknown>
  at: Date
}

/** One snapshot, so that the unread count belongs to the frames. An account without a log has no entry. */
async function selectFeedLogs (db: Db, queries: FeedPosition[]): Promise<(FeedLog | undefined)[]> {
  const { rows } = await sql<LogRow>`
    with requested as materialized (
      select * from unnest(
        ${lookupArray(queries.map((_, number) => number), 'integer')},
        ${lookupArray(queries.map(({ accountId }) => accountId), 'uuid')},
        ${lookupArray(queries.map(({ position }) => position.epoch), 'text')},
        ${lookupArray(queries.map(({ position }) => position.seq), 'bigint')}
      ) as requested (number, account_id, epoch, after)
    ), unread as materialized (${unreadCountsOf(sql`requested`)})
    select requested.number, inboxes.account_id as "accountId", coalesce(realtime_epoch, '') as epoch,
      realtime_seq as head, realtime_deleted_seq as "deletedSeq", unread.count as "unreadCount", people.locale,
      coalesce(people.timezone, ${DEFAULT_TIMEZONE}) as timezone,
      coalesce(realtime_epoch is not null and realtime_until > now() + interval '23 hours', false) as "isFresh",
      page.seq, page.type, page.ids, page.at
    from requested
    join unread on unread.account_id = requested.account_id
    join inboxes on inboxes.account_id = requested.account_id
    left join people on people.account_id = requested.account_id
    left join lateral (
      select seq, type, ids, at from realtime_frames
      where realtime_frames.account_id = requested.account_id and seq > requested.after
        and requested.epoch = inboxes.realtime_epoch
      order by seq limit ${sql.lit(PAGE_SIZE + 1)}
    ) page on true
    order by requested.number, page.seq`.execute(db)
  const rowsOf = Map.groupBy(rows, ({ number }) => number)
  return queries.map((_, number) => {
    const own = rowsOf.get(number)
    const [feed] = own ?? []
    if (!own || !feed) return
    return { feed, frames: own.flatMap(({ seq, ...row }) => seq === null ? [] : [{ ...row, seq }]) }
  })
}

/** A log that was not written for a while has gaps, so it gets a new epoch. */
async function renewFeeds (db: Db, accountIds: string[]) {
  await sql`
    insert into inboxes (account_id, realtime_epoch, realtime_until)
    select account_id, epoch, now() + interval '1 day'
    from unnest(
      ${accountIds}::uuid[],
      ${accountIds.map(() => randomBytes(8).toString('hex'))}::text[]
    ) as renewed (account_id, epoch)
    order by account_id
    on conflict (account_id) do update set
      realtime_epoch = case
        when inboxes.realtime_until > now() then coalesce(inboxes.realtime_epoch, excluded.realtime_epoch)
        else excluded.realtime_epoch
      end,
      realtime_until = excluded.realtime_until`.execute(db)
}

/** Stores which chat is on the screen of each account, for 90 seconds. Null: none. */
export async function storeFocus (db: Db, focused: { accountId: string, matchId: string | null }[]) {
  if (focused.length === 0) return
  // Locked in the order in which all changes of inboxes lock these rows, so that no two deadlock.
  await sql`
    with focus as (
      select distinct on (account_id) account_id, match_id from unnest(
        ${focused.map(({ accountId }) => accountId)}::uuid[],
        ${focused.map(({ matchId }) => matchId)}::uuid[]
      ) as focus (account_id, match_id)
      order by account_id, match_id nulls last
    ), locked as materialized (
      select account_id from inboxes where account_id in (select account_id from focus)
      order by account_id for update
    )
    update inboxes set realtime_focus_match = focus.match_id, realtime_focus_until = now() + interval '90 seconds'
    from focus join locked using (account_id) where inboxes.account_id = focus.account_id`.execute(db)
}
