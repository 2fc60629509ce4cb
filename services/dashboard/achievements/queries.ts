import { sql } from 'kysely'
import { textsOf } from '@tandem/brand-kit'
import type { Db, StreakKind } from '../tables.ts'
import { iconOf, kinds, progressOf, type Figures } from './rules.ts'

/** Every kind of achievement in the order of the rules, with what the person has of it. */
export async function listAchievements (db: Db, accountId: string, language: string) {
  const [figures, rows] = await Promise.all([
    readFigures(db, accountId),
    db.selectFrom('achievements').where('account_id', '=', accountId)
      .select((row) => [
        'id',
        'achievement',
        'earned_at as earnedAt',
        row.selectFrom('shared_achievements').where('account_id', '=', accountId)
          .whereRef('achievement_id', '=', 'achievements.id').where('is_deleted', '=', false)
          .select('post_id').orderBy('post_id', 'desc').limit(1).as('postId')
      ])
      .execute()
  ])
  const texts = textsOf(language)
  const earned = new Map(rows.map(({ achievement, ...row }) => [achievement, row]))
  return kinds.map((kind) => ({
    id: earned.get(kind)?.id ?? null,
    kind,
    title: texts.format(`achievements.${kind}.title`),
    description: texts.format(`achievements.${kind}.description`),
    icon: iconOf(kind),
    earnedAt: earned.get(kind)?.earnedAt ?? null,
    progress: earned.has(kind) ? 100 : progressOf(kind, figures),
    postId: earned.get(kind)?.postId ?? null
  }))
}

/** An achievement of the account as its posts show it; null if the account has none with this id. */
export async function findAchievementSnapshot (
  db: Db,
  accountId: string,
  { achievementId, language }: { achievementId: string, language: string }
) {
  const row = await db.selectFrom('achievements').where('account_id', '=', accountId).where('id', '=', achievementId)
    .select(['id', 'achievement', 'earned_at as earnedAt'])
    .executeTakeFirst()
  const kind = kinds.find((each) => each === row?.achievement)
  if (!row || !kind) return null
  return {
    id: row.id,
    kind,
    title: textsOf(language).format(`achievements.${kind}.title`),
    earnedAt: row.earnedAt.toISOString()
  }
}

export async function readFigures (db: Db, accountId: string): Promise<Figures> {
  const totals = await db.selectFrom('totals').where('account_id', '=', accountId)
    .select([
      'workouts',
      'records',
      'highest_level as level',
      longestStreak(accountId, 'DAY').as('dayStreak'),
      longestStreak(accountId, 'WEEK').as('weekStreak')
    ])
    .executeTakeFirst()
  return {
    ...(totals ?? { workouts: 0, records: 0, level: 1, dayStreak: 0, weekStreak: 0 }),
    programPercent: await readProgramPercent(db, accountId),
    activities: await countActivities(db, accountId)
  }
}

export async function countActivities (db: Db, accountId: string) {
  const { activities } = await db.selectFrom('attended_activities').where('account_id', '=', accountId)
    .select((row) => row.fn.countAll<number>().as('activities')).executeTakeFirstOrThrow()
  return activities
}

const longestStreak = (accountId: string, kind: StreakKind) =>
  sql<number>`(
    select coalesce(max(last_day - first_day) / ${sql.lit(kind === 'WEEK' ? 7 : 1)} + 1, 0) from streaks
    where account_id = ${accountId} and kind = ${kind})`

/** Of the program that is furthest, how many percent of its training days have a workout. */
export async function readProgramPercent (db: Db, accountId: string) {
  const furthest = await db.selectFrom('programs').innerJoin('program_days', 'program_days.program_id', 'programs.id')
    .where('programs.account_id', '=', accountId)
    .where('is_rest_day', '=', false)
    .select(sql<number>`(100 * count(*) filter (where ${isLogged(accountId)}) / count(*))::integer`.as('percent'))
    .groupBy('programs.id')
    .orderBy('percent', 'desc')
    .limit(1)
    .executeTakeFirst()
  return furthest?.percent ?? 0
}

const isLogged = (accountId: string) =>
  sql`exists (
    select from logs
    where logs.account_id = ${accountId} and data ? 'programDayId'
      and data ->> 'programDayId' = program_days.id::text and logs.type = 'WORKOUT')`
