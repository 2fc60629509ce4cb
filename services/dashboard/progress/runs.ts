import { sql } from 'kysely'
import { dayOfNumber } from '../calendar.ts'
import type { RunKind, Trx } from '../tables.ts'

/** An unbroken row of days, or of Mondays, by their numbers; both ends belong to it. */
export interface Run { first: number, last: number }

type RunOfKind = Run & { kind: RunKind }

/** A day (or Monday) of which it changed whether it counts. */
export interface Change { kind: RunKind, number: number, counts: boolean }

export const stepOf = (kind: RunKind) => kind === 'WEEK' ? 7 : 1

/** `runs` after `changes`: in order, none touching another. Pure; the numbers of a kind lie a multiple of `step` apart. */
export function changeRuns (runs: Run[], changes: Map<number, boolean>, step: number): Run[] {
  const cut = runs.flatMap(({ first, last }) => {
    const gone = [...changes].filter(([number, counts]) => !counts && number >= first && number <= last).map(([number]) => number).sort((a, b) => a - b)
    const pieces = [...gone, last + step].map((end, index) => ({ first: index === 0 ? first : (gone[index - 1] as number) + step, last: end - step }))
    return pieces.filter((piece) => piece.first <= piece.last)
  })
  const added = [...changes].filter(([, counts]) => counts).map(([number]) => ({ first: number, last: number }))
  const merged: Run[] = []
  for (const run of [...cut, ...added].sort((a, b) => a.first - b.first)) {
    const previous = merged.at(-1)
    if (previous && run.first <= previous.last + step) previous.last = Math.max(previous.last, run.last)
    else merged.push({ ...run })
  }
  return merged
}

/**
 * Writes the runs anew that `changes` touch, under the lock of the account's totals.
 * @returns the longest that was touched of each kind, in days or weeks
 */
export async function applyChanges (trx: Trx, accountId: string, changes: Change[]): Promise<Record<RunKind, number>> {
  const longest = { DAY: 0, WATER: 0, WEEK: 0 }
  const kinds = [...new Set(changes.map(({ kind }) => kind))]
  if (kinds.length === 0) return longest

  const spans = kinds.map((kind) => {
    const numbers = changes.filter((change) => change.kind === kind).map(({ number }) => number)
    return { kind, from: dayOfNumber(Math.min(...numbers) - stepOf(kind)), to: dayOfNumber(Math.max(...numbers) + stepOf(kind)) }
  })
  const { rows } = await sql<RunOfKind>`
    select kind, first_day - date '1970-01-01' as first, last_day - date '1970-01-01' as last
    from jsonb_to_recordset(${JSON.stringify(spans)}::jsonb) as span (kind text, "from" date, "to" date)
    join runs using (kind)
    where account_id = ${accountId} and last_day >= "from" and first_day <= "to"`.execute(trx)

  const gone: RunOfKind[] = []
  const come: RunOfKind[] = []
  for (const kind of kinds) {
    const before = rows.filter((run) => run.kind === kind)
    const changed = new Map(changes.filter((change) => change.kind === kind).map(({ number, counts }) => [number, counts]))
    const after = changeRuns(before, changed, stepOf(kind))
    const same = (a: Run) => (b: Run) => a.first === b.first && a.last === b.last
    gone.push(...before.filter((run) => !after.some(same(run))))
    come.push(...after.filter((run) => !before.some(same(run))).map((run) => ({ ...run, kind })))
    longest[kind] = Math.max(0, ...after.map(({ first, last }) => (last - first) / stepOf(kind) + 1))
  }
  await replaceRuns(trx, accountId, gone, come)
  return longest
}

async function replaceRuns (trx: Trx, accountId: string, gone: RunOfKind[], come: RunOfKind[]) {
  if (gone.length > 0) {
    await sql`
      delete from runs using unnest(${gone.map(({ kind }) => kind)}::text[], ${gone.map(({ first }) => dayOfNumber(first))}::date[]) as gone (kind, first_day)
      where runs.account_id = ${accountId} and runs.kind = gone.kind and runs.first_day = gone.first_day`.execute(trx)
  }
  if (come.length > 0) {
    await sql`
      insert into runs (account_id, kind, first_day, last_day)
      select ${accountId}, * from unnest(
        ${come.map(({ kind }) => kind)}::text[], ${come.map(({ first }) => dayOfNumber(first))}::date[], ${come.map(({ last }) => dayOfNumber(last))}::date[])`.execute(trx)
  }
}
