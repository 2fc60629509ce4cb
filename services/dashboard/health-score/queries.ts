import { sql } from 'kysely'
import { mondayOf } from '../calendar.ts'
import { readTargetsOfDays } from '../goals/queries.ts'
import type { Db } from '../tables.ts'
import { currentStreak } from '../stats/queries.ts'
import { overallOf, scoresOf, sleepAveragesOf, trendOf, type DaySummary } from './formulas.ts'
import { tipsFor } from './tips.ts'

/** The summaries from one day to another, both included. Days without logs have none. */
export async function readDailySummaries (
  db: Db,
  accountId: string,
  from: Temporal.PlainDate,
  to: Temporal.PlainDate
): Promise<DaySummary[]> {
  return await db.selectFrom('daily_summaries')
    .where('account_id', '=', accountId)
    .where(sql<boolean>`day between ${from.toString()}::date and ${to.toString()}::date`)
    .select([
      sql<string>`day::text`.as('day'),
      'workouts',
      'food_entries as foodEntries',
      sql<number>`calories::float8`.as('calories'),
      'water_ml as waterMl',
      'sleep_entries as sleepEntries',
      'sleep_minutes as sleepMinutes',
      'sleep_quality as sleepQuality',
      sql<number>`coalesce(sleep_ratings, sleep_entries)`.as('sleepRatings')
    ])
    .execute()
}

const DAYS_OF_WEEK = 7

/**
 * `overallScore` is the weighted sum of the four rounded scores, rounded. `previousScore` is the score of the whole
 * previous week. Each day is scored by the goals of its time. `calorieProgress` can exceed 100; `todayProgress` of
 * water stops at 100.
 * `avgDuration` is in minutes per day, `avgQuality` has one decimal. Tips are for the metric with the lowest score
 * (ties: greater weight, then nutrition before sleep), or praise if even that score is 80 or more. The streak of
 * workouts counts ISO weeks with one, up to this week, or up to the last while this week has none; that of water counts
 * days, up to today or yesterday.
 */
export async function readHealthScore (db: Db, accountId: string, today: Temporal.PlainDate, language: string) {
  const monday = mondayOf(today)
  const lastMonday = monday.subtract({ days: DAYS_OF_WEEK })
  const [days, targetsOn, { rows: [streaks] }] = await Promise.all([
    readDailySummaries(db, accountId, lastMonday, today),
    readTargetsOfDays(db, accountId, lastMonday),
    sql<{ weeks: number, water: number }>`
      select ${currentStreak(accountId, 'WEEK', monday)} as weeks, ${currentStreak(accountId, 'WATER', today)} as water`
      .execute(db)
  ])
  const thisWeek = days.filter(({ day }) => day >= monday.toString())
  const lastWeek = days.filter(({ day }) => day < monday.toString())
  const targets = targetsOn(today.toString())
  const scores = scoresOf(thisWeek, { lastDay: today, targetsOn })
  const overallScore = overallOf(scores)
  const previousScore = overallOf(scoresOf(lastWeek, { lastDay: monday.subtract({ days: 1 }), targetsOn }))

  const now = thisWeek.find(({ day }) => day === today.toString())
  const sleep = sleepAveragesOf(thisWeek)
  return {
    overallScore,
    previousScore,
    trend: trendOf(overallScore, previousScore),
    metrics: {
      workout: {
        score: scores.workout,
        completed: thisWeek.reduce((count, { workouts }) => count + workouts, 0),
        target: targets.workoutsPerWeek,
        streak: streaks?.weeks ?? 0
      },
      nutrition: {
        score: scores.nutrition,
        calorieProgress: Math.round((now?.calories ?? 0) / targets.dailyCalories * 100),
        daysTracked: thisWeek.filter(({ foodEntries }) => foodEntries > 0).length
      },
      water: {
        score: scores.water,
        todayProgress: Math.min(100, Math.round((now?.waterMl ?? 0) / targets.waterMl * 100)),
        streak: streaks?.water ?? 0
      },
      sleep: {
        score: scores.sleep,
        avgDuration: Math.round(sleep.minutes),
        avgQuality: Math.round(sleep.quality * 10) / 10,
        daysTracked: sleep.daysTracked
      }
    },
    tips: tipsFor(scores, { days: thisWeek, targets }, language)
  }
}
