import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AchievementEarned, AchievementLost } from '@tandem/contracts'
import type { Db, LogData, Trx } from '../tables.ts'
import { countActivities, readFigures, readProgramPercent } from './queries.ts'
import { achievementsOf, type Figures } from './rules.ts'

/**
 * Stores and publishes the achievements that these figures earn, each once. Call it in the transaction that makes them
 * true, with the account locked.
 */
export async function awardAchievements (trx: Trx, accountId: string, figures: Partial<Figures>) {
  const earned = achievementsOf(figures)
  if (earned.length === 0) return
  const rows = await trx.insertInto('achievements')
    .values(earned.map((achievement) => ({ account_id: accountId, achievement })))
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'achievement'])
    .execute()
  for (const { id, achievement } of rows) {
    await publish(trx, AchievementEarned, accountId, { accountId, achievement, achievementId: id })
  }
}

/** The days of programs that these workouts are of. */
export const programDaysOf = (workouts: { data: LogData }[]) =>
  new Set(workouts.flatMap(({ data }) => data['programDayId'] ?? []))

/** Awards what days of programs earn. */
export async function awardPrograms (trx: Trx, accountId: string) {
  await awardAchievements(trx, accountId, { programPercent: await readProgramPercent(trx, accountId) })
}

/** Counts an activity with others, once. */
export async function countActivity (trx: Trx, accountId: string, activityId: string) {
  const counted = await trx.insertInto('attended_activities')
    .values({ account_id: accountId, activity_id: activityId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('activity_id')
    .executeTakeFirst()
  if (!counted) return
  await awardAchievements(trx, accountId, { activities: await countActivities(trx, accountId) })
}

/**
 * Takes back those achievements of the last 24 hours that are not true any more. Call it after `recalculate`, with the
 * account locked. A completed program stays so, also if it was changed or deleted since, unless a workout of a program
 * is gone.
 */
export async function takeBackUntrue (
  trx: Trx,
  accountId: string,
  { hasLostProgramDay }: { hasLostProgramDay: boolean }
) {
  const recent = await trx.selectFrom('achievements').where('account_id', '=', accountId)
    .where('earned_at', '>', sql<Date>`now() - interval '24 hours'`)
    .select(['id', 'achievement'])
    .execute()
  if (recent.length === 0) return
  const figures = await readFigures(trx, accountId)
  const stillTrue = new Set<string>(achievementsOf(hasLostProgramDay ? figures : { ...figures, programPercent: 100 }))
  for (const { id, achievement } of recent.filter((each) => !stillTrue.has(each.achievement))) {
    await trx.deleteFrom('achievements').where('account_id', '=', accountId).where('id', '=', id).execute()
    await publish(trx, AchievementLost, accountId, { accountId, achievement, achievementId: id })
  }
}

/** Stores that a post shows an achievement, or that this post was deleted, which is final. */
export async function storeShare (
  db: Db,
  { postId, authorId, achievementId }: { postId: string, authorId: string, achievementId: string },
  { isDeleted }: { isDeleted: boolean }
) {
  await db.insertInto('shared_achievements')
    .values({ post_id: postId, account_id: authorId, achievement_id: achievementId, is_deleted: isDeleted })
    .onConflict((conflict) =>
      isDeleted ? conflict.column('post_id').doUpdateSet({ is_deleted: true }) : conflict.doNothing()
    )
    .execute()
}
