import { sql } from 'kysely'
import type { Trx } from '../tables.ts'

const MINUTE_MS = 60_000

interface TimedLog {
  id: string
  type: 'WORKOUT' | 'SLEEP'
  /** The start of a workout; for sleep the time of waking up. */
  at: Date
  minutes: number
}

/**
 * A watch and a phone often log the same workout, or the same sleep. Of logs of one type that share more than half of
 * the shorter one, only the longer counts; of equal ones the first. The shorter one is one whose middle the longer one
 * covers. Pure.
 * @returns the ids of those that do not count
 */
export function findDoubles (logs: TimedLog[]): Set<string> {
  const doubles = new Set<string>()
  const longestFirst = logs.toSorted((one, other) =>
    other.minutes - one.minutes || one.at.getTime() - other.at.getTime() || (one.id < other.id ? -1 : 1)
  )
  for (const ofOneType of Map.groupBy(longestFirst, ({ type }) => type).values()) {
    // What the longer logs cover, disjoint: many short logs must not be compared with each other.
    let covered: { start: number, end: number }[] = []
    for (const { id, type, at, minutes } of ofOneType) {
      const length = minutes * MINUTE_MS
      const start = type === 'SLEEP' ? at.getTime() - length : at.getTime()
      const [middle, end] = [start + length / 2, start + length]
      if (covered.some((span) => span.start < middle && middle < span.end)) doubles.add(id)
      if (covered.some((span) => span.start <= start && end <= span.end)) continue
      const touched = covered.filter((span) => span.start < end && start < span.end)
      covered = covered.filter((span) => !touched.includes(span))
      covered.push({
        start: Math.min(start, ...touched.map((span) => span.start)),
        end: Math.max(end, ...touched.map((span) => span.end))
      })
    }
  }
  return doubles
}

/**
 * Marks which logs count after those at `times` have changed. No log lasts longer than a day, so it can concern logs up
 * to a day away, which depend on logs up to a day from them.
 * @returns the logs whose mark changed
 */
export async function markDoubles (trx: Trx, accountId: string, times: Date[]) {
  if (times.length === 0) return []
  const { rows } = await sql<TimedLog & { isNear: boolean, counts: boolean }>`
    select logs.id, type, at, counts, coalesce(data ->> 'durationMinutes', data ->> 'minutes')::int as minutes,
      bool_or(at between changed - interval '1 day' and changed + interval '1 day') as "isNear"
    from unnest(${times}::timestamptz[]) changed
    join logs on account_id = ${accountId} and type in ('WORKOUT', 'SLEEP')
      and at between changed - interval '2 days' and changed + interval '2 days'
    group by logs.id`.execute(trx)
  const doubles = findDoubles(rows)
  const wrong = rows.filter(({ id, isNear, counts }) => isNear && counts === doubles.has(id)).map(({ id }) => id)
  if (wrong.length === 0) return []
  return await trx.updateTable('logs').where('id', '=', sql<string>`any(${wrong}::uuid[])`)
    .set((log) => ({ counts: log.not('counts') }))
    .returning(['id', sql<string>`day::text`.as('day')])
    .execute()
}
