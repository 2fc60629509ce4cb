import { sql } from 'kysely'
import { dayFromNumber } from '../calendar.ts'
import type { StreakKind, Trx } from '../tables.ts'

/** Consecutive days, or Mondays of consecutive weeks, as day numbers; both ends included. */
export interface Streak {
  first: number
  last: number
}

type StreakOfKind = Streak & { kind: StreakKind }

/** A day (or Monday) that started or stopped to count. */
export interface StreakChange {
  kind: StreakKind
  number: number
  counts: boolean
}

export const stepOf = (kind: StreakKind) => kind === 'WEEK' ? 7 : 1

/**
 * `streaks` after `changes`: sorted, none adjacent to another. Pure. All day numbers are a multiple of `step` apart.
 */
export function changeStreaks (streaks: Streak[], changes: Map<number, boolean>, step: number): Streak[] {
  const removed = [...changes].filter(([, counts]) => !counts).map(([number]) => number).sort((a, b) => a - b)
  const split = streaks.flatMap(({ first, last }) => {
    const gaps = [first - step, ...removed.filter((number) => first <= number && number <= last), last + step]
    return gaps.slice(1).map((gap, index) => ({ first: (gaps[index] as number) + step, last: gap - step }))
      .filter((piece) => piece.first <= piece.last)
  })
  const added = [...changes].filter(([, counts]) => counts).map(([number]) => ({ first: number, last: number }))
  const merged: Streak[] = []
  for (const streak of [...split, ...added].sort((a, b) => a.first - b.first)) {
    const previous = merged.at(-1)
    if (previous && streak.first <= previous.last + step) previous.last = Math.max(previous.last, streak.last)
    else merged.push({ ...streak })
  }
  return merged
}

/**
 * Updates the streaks that `changes` affect. The caller holds the lock on the account.
 * @returns the longest affected streak of each kind, in days or weeks, and whether a day or week of one was lost
 */
export async function applyStreakChanges (
  trx: Trx,
  accountId: string,
  changes: StreakChange[]
): Promise<{ longest: Record<StreakKind, number>, hasLost: boolean }> {
  const longest = { DAY: 0, WATER: 0, WEEK: 0 }
  const kinds = [...new Set(changes.map(({ kind }) => kind))]
  if (kinds.length === 0) return { longest, hasLost: false }

  const spans = kinds.map((kind) => {
    const numbers = changes.filter((change) => change.kind === kind).map(({ number }) => number)
    return {
      kind,
      from: dayFromNumber(Math.min(...numbers) - stepOf(kind)),
      to: dayFromNumber(Math.max(...numbers) + stepOf(kind))
    }
  })
  const { rows } = await sql<StreakOfKind>`
    select kind, first_day - date '1970-01-01' as first, last_day - date '1970-01-01' as last
    from jsonb_to_recordset(${JSON.stringify(spans)}::jsonb) as span (kind text, "from" date, "to" date)
    join streaks using (kind)
    where account_id = ${accountId} and last_day >= "from" and first_day <= "to"`.execute(trx)

  const removed: StreakOfKind[] = []
  const added: StreakOfKind[] = []
  for (const kind of kinds) {
    const before = rows.filter((streak) => streak.kind === kind)
    const changed = new Map(
      changes.filter((change) => change.kind === kind).map(({ number, counts }) => [number, counts])
    )
    const after = changeStreaks(before, changed, stepOf(kind))
    const isSame = (a: Streak) => (b: Streak) => a.first === b.first && a.last === b.last
    removed.push(...before.filter((streak) => !after.some(isSame(streak))))
    added.push(...after.filter((streak) => !before.some(isSame(streak))).map((streak) => ({ ...streak, kind })))
    longest[kind] = Math.max(0, ...after.map(({ first, last }) => (last - first) / stepOf(kind) + 1))
  }
  await replaceStreaks(trx, accountId, removed, added)
  const hasLost = changes.some(({ kind, number, counts }) =>
    !counts && rows.some((streak) => streak.kind === kind && streak.first <= number && number <= streak.last)
  )
  return { longest, hasLost }
}

async function replaceStreaks (trx: Trx, accountId: string, removed: StreakOfKind[], added: StreakOfKind[]) {
  if (removed.length > 0) {
    await sql`
      delete from streaks using unnest(
        ${removed.map(({ kind }) => kind)}::text[],
        ${removed.map(({ first }) => dayFromNumber(first))}::date[]
      ) as removed (kind, first_day)
      where streaks.account_id = ${accountId} and streaks.kind = removed.kind and streaks.first_day = removed.first_day`
      .execute(trx)
  }
  if (added.length > 0) {
    await sql`
      insert into streaks (account_id, kind, first_day, last_day)
      select ${accountId}, * from unnest(
        ${added.map(({ kind }) => kind)}::text[],
        ${added.map(({ first }) => dayFromNumber(first))}::date[],
        ${added.map(({ last }) => dayFromNumber(last))}::date[]
      )`.execute(trx)
  }
}
