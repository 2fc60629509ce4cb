import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import type { LogData, LogType } from '../tables.ts'
import { MINUTE_MS, type Span } from './data.ts'

interface Timed {
  type: LogType
  at: Date
  endsAt: Date | null | undefined
  data: LogData
}

/** From when to when a log is. A sleep ends at its time, everything else starts at it. */
export function spanOf ({ type, at, endsAt, data }: Timed): Span {
  const moment = at.getTime()
  if (type === 'WORKOUT') {
    return { start: moment, end: endsAt?.getTime() ?? moment + Number(data['durationMinutes']) * MINUTE_MS }
  }
  const parts = (data['samples'] ?? data['stages'] ?? []) as { at?: string, startAt?: string, endAt?: string }[]
  const starts = parts.map(({ at = '', startAt = at }) => Date.parse(startAt))
  if (type === 'SLEEP') {
    return { start: Math.min(moment - Number(data['minutes']) * MINUTE_MS, ...starts), end: moment }
  }
  const ends = parts.map(({ at = '', endAt = at }) => Date.parse(endAt))
  return { start: Math.min(moment, ...starts), end: Math.max(endsAt?.getTime() ?? moment, ...ends) }
}

/** The logs of a type that start, or are, within one of `spans`; the columns are those of `logs`. It goes after `from`. */
export const logsWithin = (accountId: string, type: LogType, spans: Span[]) =>
  sql`
    unnest(
      ${lookupArray(spans.map(({ start }) => new Date(start)), 'timestamptz')},
      ${lookupArray(spans.map(({ end }) => new Date(end)), 'timestamptz')}
    ) as span (starts_at, ends_at_most)
    join logs on account_id = ${accountId} and type = ${type} and at between starts_at and ends_at_most`
