import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import type { KeptFrameType } from '@tandem/contracts/realtime'
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
}

export interface LoggedFrame {
  number: number
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

/** Reads the state of logs, and keeps them being written for another day. */
export async function readFeedStates (db: Db, accountIds: string[]): Promise<Map<string, Feed>> {
  const unique = [...new Set(accountIds)].sort()
  const found = await selectFeeds(db, unique)
  const stale = unique.filter((accountId) => !found.get(accountId)?.isFresh)
  if (stale.length === 0) return found
  await renewFeeds(db, stale)
  return new Map([...found, ...await selectFeeds(db, stale)])
}

async function selectFeeds (db: Db, accountIds: string[]) {
  const { rows } = await sql<Feed & { isFresh: boolean }>`
    select unread_counts.account_id as "accountId", coalesce(realtime_epoch, '') as epoch, realtime_seq as head,
      realtime_deleted_seq as "deletedSeq", unread as "unreadCount", people.locale,
      coalesce(people.timezone, ${DEFAULT_TIMEZONE}) as timezone,
      coalesce(realtime_epoch is not null and realtime_until > now() + interval '23 hours', false) as "isFresh"
    from unread_counts left join people on people.account_id = unread_counts.account_id
    where unread_counts.account_id = any(${accountIds}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.accountId, row]))
}

/** A log that was not written for a while has gaps, so it gets a new epoch. */
async function renewFeeds (db: Db, accountIds: string[]) {
  await sql`
    insert into unread_counts (account_id, realtime_epoch, realtime_until)
    select account_id, epoch, now() + interval '1 day'
    from unnest(
      ${accountIds}::uuid[],
      ${accountIds.map(() => randomBytes(8).toString('hex'))}::text[]
    ) as renewed (account_id, epoch)
    order by account_id
    on conflict (account_id) do update set
      realtime_epoch = case
        when unread_counts.realtime_until > now() then coalesce(unread_counts.realtime_epoch, excluded.realtime_epoch)
        else excluded.realtime_epoch
      end,
      realtime_until = excluded.realtime_until`.execute(db)
}

interface FramesQuery {
  accountId: string
  after: number
  /** Frames above it belong to the next page: their unread count is newer than the one of this page. */
  head: number
}

/** Reads a page of frames for each query, with one more if another page follows. `number` is that of the query. */
export async function readLoggedFrames (db: Db, queries: FramesQuery[]): Promise<LoggedFrame[]> {
  const open = queries.map((query, number) => ({ ...query, number })).filter(({ after, head }) => after < head)
  if (open.length === 0) return []
  const { rows } = await sql<LoggedFrame>`
    select requested.number, page.account_id as "accountId", page.seq, page.type, page.ids, page.at
    from unnest(
      ${open.map(({ number }) => number)}::integer[],
      ${open.map(({ accountId }) => accountId)}::uuid[],
      ${open.map(({ after }) => after)}::bigint[],
      ${open.map(({ head }) => head)}::bigint[]
    ) as requested (number, account_id, after, head)
    cross join lateral (
      select * from realtime_frames
      where realtime_frames.account_id = requested.account_id and seq > after and seq <= head
      order by seq limit ${sql.lit(PAGE_SIZE + 1)}
    ) page
    order by requested.number, page.seq`.execute(db)
  return rows
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
      select account_id from unread_counts where account_id in (select account_id from focus)
      order by account_id for update
    )
    update unread_counts set realtime_focus_match = focus.match_id, realtime_focus_until = now() + interval '90 seconds'
    from focus join locked using (account_id) where unread_counts.account_id = focus.account_id`.execute(db)
}
