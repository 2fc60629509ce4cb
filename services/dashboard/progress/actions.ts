import { publish } from '@tandem/bus-kit'
import { LevelLost, LevelReached } from '@tandem/contracts'
import { awardAchievements } from '../achievements/actions.ts'
import { dayFromNumber, mondayNumberOf, dayNumberOf } from '../calendar.ts'
import type { Trx } from '../tables.ts'
import { findMissingDays } from './missing-days.ts'
import { levelOf } from './rules.ts'
import { applyStreakChanges, type StreakChange } from './streaks.ts'
import { deleteSummaries, insertSummaries, weeksWithWorkout, type Summary } from './summaries.ts'

/** Locks the account's row of `totals`, which every change to its logs takes first. Creates it if needed. */
export async function lockAccount (trx: Trx, accountId: string) {
  return await trx.insertInto('totals').values({ account_id: accountId })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ account_id: accountId }))
    .returning(['xp', 'workouts', 'records', 'highest_level as highestLevel', 'revision'])
    .executeTakeFirstOrThrow()
}

export type LockedTotals = Awaited<ReturnType<typeof lockAccount>>

/**
 * Updates everything derived from an account's logs after logs of `days` changed: summaries, streaks, totals, levels
 * and achievements. Publishes new levels and achievements. Call it with the account locked and after `markRecords`.
 * @returns the level, what each day gained, and whether something is less than before
 */
export async function recalculate (trx: Trx, accountId: string, totals: LockedTotals, days: string[]) {
  if (days.length === 0) return { gains: { level: totals.highestLevel, days: [] }, hasLost: false }
  const before = byDay(await deleteSummaries(trx, accountId, days))
  const after = byDay(await insertSummaries(trx, accountId, days))
  const gainOf = (figure: Exclude<keyof Summary, 'day'>) =>
    days.reduce((sum, day) => sum + (after.get(day)?.[figure] ?? 0) - (before.get(day)?.[figure] ?? 0), 0)

  const xp = totals.xp + gainOf('xp')
  const level = levelOf(xp)
  const workouts = totals.workouts + gainOf('workouts')
  const records = totals.records + gainOf('records')
  await trx.updateTable('totals').where('account_id', '=', accountId).set((of) => ({
    xp,
    workouts,
    records,
    workout_minutes: of('workout_minutes', '+', gainOf('workoutMinutes')),
    food_entries: of('food_entries', '+', gainOf('foodEntries')),
    highest_level: level,
    revision: totals.revision + 1
  })).execute()

  const streakChanges = await findStreakChanges(trx, accountId, days, before, after)
  const { longest, hasLost } = await applyStreakChanges(trx, accountId, streakChanges)
  await publishLevels(trx, accountId, totals.highestLevel, level)
  await awardAchievements(trx, accountId, {
    workouts,
    records,
    level,
    dayStreak: longest.DAY,
    weekStreak: longest.WEEK
  })
  return {
    gains: { level, days: days.map((day) => ({ day, before: before.get(day), after: after.get(day) })) },
    hasLost: hasLost || gainOf('xp') < 0 || gainOf('workouts') < 0 || gainOf('records') < 0
  }
}

async function publishLevels (trx: Trx, accountId: string, before: number, level: number) {
  if (level < before) await publish(trx, LevelLost, accountId, { accountId, level, from: before })
  for (let reached = before + 1; reached <= level; reached++) {
    await publish(trx, LevelReached, accountId, { accountId, level: reached })
  }
}

type Summaries = Map<string, Summary>
const byDay = (summaries: Summary[]): Summaries => new Map(summaries.map((summary) => [summary.day, summary]))

/** The days and weeks that started or stopped to count for a streak. */
async function findStreakChanges (trx: Trx, accountId: string, days: string[], before: Summaries, after: Summaries) {
  const changes: StreakChange[] = []
  const weeks = new Set<number>()
  const findTransition = (day: string, counts: (summary: Summary) => boolean) => {
    const [was, is] = [before, after].map((summaries) => summaries.has(day) && counts(summaries.get(day) as Summary))
    return was === is ? undefined : is
  }
  for (const day of days) {
    const number = dayNumberOf(day)
    const dayChange = findTransition(day, () => true)
    const waterChange = findTransition(day, ({ waterEntries }) => waterEntries > 0)
    if (dayChange !== undefined) changes.push({ kind: 'DAY', number, counts: dayChange })
    if (waterChange !== undefined) changes.push({ kind: 'WATER', number, counts: waterChange })
    if (findTransition(day, ({ workouts }) => workouts > 0) !== undefined) weeks.add(mondayNumberOf(number))
  }
  changes.push(...await findMissingDays(trx, accountId, days.map(dayNumberOf)))
  if (weeks.size > 0) {
    const active = await weeksWithWorkout(trx, accountId, [...weeks].map(dayFromNumber))
    for (const number of weeks) changes.push({ kind: 'WEEK', number, counts: active.has(dayFromNumber(number)) })
  }
  return changes
}
