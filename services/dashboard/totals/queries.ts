import { sql } from 'kysely'
import { mondayOf } from '../calendar.ts'
import { findGoals, nutritionGoalOf } from '../goals/queries.ts'
import type { Db } from '../tables.ts'
import { currentStreak } from '../stats/queries.ts'

export async function readTotals (db: Db, accountId: string) {
  const [totals, goals] = await Promise.all([
    db.selectFrom('totals').where('account_id', '=', accountId).select(['workouts', 'food_entries as foodEntries'])
      .executeTakeFirst(),
    findGoals(db, accountId)
  ])
  return {
    totalWorkouts: totals?.workouts ?? 0,
    totalFoodEntries: totals?.foodEntries ?? 0,
    nutritionGoal: nutritionGoalOf(goals)
  }
}

export async function readProgress (db: Db, accountId: string, today: Temporal.PlainDate) {
  const { rows: [progress] } = await sql<{ weekStreak: number, personalRecords: number }>`
    select ${currentStreak(accountId, 'WEEK', mondayOf(today))} as "weekStreak",
      coalesce((select records from totals where account_id = ${accountId}), 0) as "personalRecords"`.execute(db)
  return progress ?? { weekStreak: 0, personalRecords: 0 }
}
