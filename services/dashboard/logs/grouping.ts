import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { LogData, LogType, Trx } from '../tables.ts'
import { DAY_MS, maxOf, minOf, unite, type Span } from '../log-types/data.ts'
import { findIslands, sessionsOf, trainedPart, type Part, type Session } from './sessions.ts'
import { countReading } from '../log-types/quotas.ts'
import { logsWithin, spanOf } from '../log-types/spans.ts'

interface StoredPart extends Part {
  day: string
  at: Date
  counts: boolean
  parts: string[] | null
  sessionData: LogData | null
}

/**
 * Finds again the sessions that the logs of a type at `changed` are of, and stores those that are different.
 * @returns the sessions of the workouts, and the logs that count for another session than before
 */
export async function regroup (trx: Trx, accountId: string, type: LogType, { changed, revision }: {
  changed: Span[],
  revision: number
}) {
  const islands = await readIslands(trx, accountId, type, changed)
  const sessions = islands.flatMap((island) => sessionsOf(type, island)) as Session<StoredPart>[]
  const regrouped = sessions.flatMap((session) =>
    session.parts.map((part) => ({ part, wanted: wantedOf(session, part) })).filter(({ part, wanted }) =>
      !isDeepStrictEqual(wanted, { counts: part.counts, parts: part.parts, sessionData: part.sessionData })
    )
  )
  const rows = regrouped.map(({ part, wanted }) => ({ id: part.id, ...wanted }))
  if (rows.length > 0) {
    await sql`
      update logs set counts = wanted.counts, parts = wanted.parts, session_data = wanted."sessionData",
        revision = ${revision}
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as wanted (id uuid, counts boolean, parts uuid[], "sessionData" jsonb)
      where logs.id = wanted.id`.execute(trx)
  }
  return { sessions, regrouped: regrouped.map(({ part }) => part) }
}

/** A log that is alone is no session. */
function wantedOf ({ main, parts, data }: Session<StoredPart>, part: StoredPart) {
  const isSession = part === main && parts.length > 1
  return {
    counts: part === main,
    parts: isSession ? parts.map(({ id }) => id) : null,
    sessionData: isSession ? JSON.parse(JSON.stringify(data)) as LogData : null
  }
}

/** The parts of sessions whose exercises count. */
export const trainedParts = (sessions: Session<StoredPart>[]) =>
  sessions.map((session) => trainedPart(session)).filter((part) => part !== undefined)

/**
 * The islands of logs that touch `changed`. An island can be of any length, so it is read in growing windows until what
 * surrounds it is empty; no log lasts longer than a day.
 */
async function readIslands (trx: Trx, accountId: string, type: LogType, changed: Span[]) {
  let windows = unite(changed.map((span) => widen(span, DAY_MS)))
  for (let marginMs = DAY_MS;; marginMs *= 2) {
    const islands = findIslands(await readParts(trx, accountId, type, windows)).filter((island) =>
      touches(island, changed)
    )
    const needed = unite([...changed, ...islands.map(extentOf)].map((span) => widen(span, DAY_MS)))
    if (needed.every((span) => windows.some((window) => window.start <= span.start && span.end <= window.end))) {
      return islands
    }
    windows = unite([...windows, ...needed.map((span) => widen(span, marginMs))])
  }
}

const widen = ({ start, end }: Span, ms: number): Span => ({ start: start - ms, end: end + ms })
const extentOf = (island: Span[]): Span => ({
  start: minOf(island.map(({ start }) => start)),
  end: maxOf(island.map(({ end }) => end))
})

function touches (island: Span[], changed: Span[]) {
  const { start, end } = extentOf(island)
  return changed.some((span) => start <= span.end && span.start <= end)
}

interface Row extends Omit<StoredPart, 'start' | 'end'> {
  endsAt: Date | null
}

async function readParts (trx: Trx, accountId: string, type: LogType, windows: Span[]): Promise<StoredPart[]> {
  const logs = logsWithin(accountId, type, windows)
  await countReading(trx, accountId, logs)
  const { rows } = await sql<Row>`
    select logs.id, client_id as key, at, ends_at as "endsAt", day::text, data, source, is_split as "isSplit", counts,
      parts, session_data as "sessionData"
    from ${logs}`.execute(trx)
  return rows.map((row) => ({ ...row, ...spanOf({ ...row, type }) }))
}
