import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AchievementEarned, LevelReached } from '@tandem/contracts'
import { dayOfNumber, mondayNumber, numberOf } from '../calendar.ts'
import type { Trx } from '../tables.ts'
import { achievementsOf, levelOf } from './rules.ts'
import { applyChanges, type Change } from './runs.ts'
import { readSummaries, refreshSummaries, weeksWithWorkout, type Summary } from './summaries.ts'

/** Takes the row of an account that everything about its logs waits for; makes it at first. */
export async function lockAccount (trx: Trx, accountId: string) {
  return await trx.insertInto('totals').values({ account_id: accountId })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ account_id: accountId }))
    .returning(['xp', 'workouts', 'records', 'highest_level as highestLevel'])
    .executeTakeFirstOrThrow()
}

type LockedTotals = Awaited<ReturnType<typeof lockAccount>>

/**
 * Brings all that follows from an account's logs up to date after those of `days` changed: summaries, runs, totals, levels and
 * achievements, and says what was reached. The account must be locked, and which lifts are records must be known.
 */
export async function recalculate (trx: Trx, accountId: string, totals: LockedTotals, days: string[]) {
  if (days.length === 0) return
  const before = byDay(await readSummaries(trx, accountId, days))
  const after = byDay(await refreshSummaries(trx, accountId, days))
  const gained = (figure: Exclude<keyof Summary, 'day'>) =>
    days.reduce((sum, day) => sum + (after.get(day)?.[figure] ?? 0) - (before.get(day)?.[figure] ?? 0), 0)

  const xp = totals.xp + gained('xp')
  const level = levelOf(xp)
  const workouts = totals.workouts + gained('workouts')
  const records = totals.records + gained('records')
  await trx.updateTable('totals').where('account_id', '=', accountId).set((of) => ({
    xp,
    workouts,
    records,
    workout_minutes: of('workout_minutes', '+', gained('workoutMinutes')),
    food_entries: of('food_entries', '+', gained('foodEntries')),
    highest_level: Math.max(totals.highestLevel, level)
  })).execute()

  const longest = await applyChanges(trx, accountId, await changesOf(trx, accountId, days, before, after))
  for (let reached = totals.highestLevel + 1; reached <= level; reached++) {
    await publish(trx, LevelReached, accountId, { accountId, level: reached })
  }
  await award(trx, accountId, achievementsOf({ workouts, records, level, dayStreak: longest.DAY, weekStreak: longest.WEEK }))
}

type Summaries = Map<string, Summary>
const byDay = (summaries: Summary[]): Summaries => new Map(summaries.map((summary) => [summary.day, summary]))

/** The days and weeks that began or ceased to count. */
async function changesOf (trx: Trx, accountId: string, days: string[], before: Summaries, after: Summaries) {
  const changes: Change[] = []
  const weeks = new Set<number>()
  const turned = (day: string, counts: (summary: Summary) => boolean) => {
    const [was, is] = [before, after].map((summaries) => summaries.has(day) && counts(summaries.get(day) as Summary))
    return was === is ? undefined : is
  }
  for (const day of days) {
    const number = numberOf(day)
    const logged = turned(day, () => true)
    const drank = turned(day, ({ waterEntries }) => waterEntries > 0)
    if (logged !== undefined) changes.push({ kind: 'DAY', number, counts: logged })
    if (drank !== undefined) changes.push({ kind: 'WATER', number, counts: drank })
    if (turned(day, ({ workouts }) => workouts > 0) !== undefined) weeks.add(mondayNumber(number))
  }
  if (weeks.size > 0) {
    const active = await weeksWithWorkout(trx, accountId, [...weeks].map(dayOfNumber))
    for (const number of weeks) changes.push({ kind: 'WEEK', number, counts: active.has(dayOfNumber(number)) })
  }
  return changes
}

/** Gives achievements that were not given before. What was earned stays, whatever becomes of the logs. */
async function award (trx: Trx, accountId: string, achievements: string[]) {
  if (achievements.length === 0) return
  const { rows } = await sql<{ achievement: string }>`
    insert into achievements (account_id, achievement)
    select ${accountId}, * from unnest(${achievements}::text[])
    on conflict do nothing
    returning achievement`.execute(trx)
  for (const { achievement } of rows) await publish(trx, AchievementEarned, accountId, { accountId, achievement })
}
