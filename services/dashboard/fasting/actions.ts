import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { FastCorrected } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { FastEnded, FastNotFound, FastOverlaps, FastRunning } from '../errors.ts'
import { lockAccount } from '../progress/actions.ts'
import type { Db, FastPlan, Trx } from '../tables.ts'
import { MAX_FAST_MS, checkEnd, checkTimes, goalAtOf, goalHoursOf, parseTime } from './fasts.ts'
import { fastColumns, findRunningFast } from './queries.ts'

interface FastFields {
  plan: FastPlan
  goalHours?: number
  startedAt?: string
  endedAt?: string
}
interface Context {
  accountId: string
  now: Date
  idempotencyKey?: IdempotencyKey | undefined
}

// Every change locks the account first, so that two concurrent fasts cannot overlap.

/** Starts a fast, or adds one from the past if `endedAt` is given. */
export async function createFast (db: Db, fields: FastFields, { accountId, now, idempotencyKey }: Context) {
  const goalHours = goalHoursOf(fields.plan, fields.goalHours)
  const startedAt = fields.startedAt === undefined ? now : parseTime('startedAt', fields.startedAt, now)
  const endedAt = fields.endedAt === undefined ? null : parseTime('endedAt', fields.endedAt, now)
  checkTimes({ startedAt, endedAt }, now)
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    await lockAccount(trx, accountId)
    await endForgottenFast(trx, accountId, now)
    if (endedAt === null && await findRunningFast(trx, accountId)) throw new FastRunning()
    await checkOverlap(trx, accountId, { startedAt, endedAt })
    return await trx.insertInto('fasts')
      .values({
        account_id: accountId,
        plan: fields.plan,
        goal_hours: goalHours,
        ...columnsOf({ startedAt, endedAt, goalHours }, now)
      })
      .returning(fastColumns)
      .executeTakeFirstOrThrow()
  })
}

/** Ends a fast that has run for longer than a fast can have, so that it does not prevent others. */
async function endForgottenFast (trx: Trx, accountId: string, now: Date) {
  await trx.updateTable('fasts').where('account_id', '=', accountId).where('ended_at', 'is', null)
    .where('started_at', '<', new Date(now.getTime() - MAX_FAST_MS))
    .set({ ended_at: sql`started_at + make_interval(secs => ${MAX_FAST_MS / 1_000})`, goal_due_at: null })
    .execute()
}

/** Ends a fast. One that has run for longer than a fast can have ends where it had the most. */
export async function endFast (db: Db, fastId: string, sentEnd: string | undefined, { accountId, now }: Context) {
  return await db.transaction().execute(async (trx) => {
    const fast = await lockFast(trx, accountId, fastId)
    if (fast.endedAt !== null) throw new FastEnded()
    const sent = sentEnd === undefined ? now : parseTime('endedAt', sentEnd, now)
    const endedAt = new Date(Math.min(sent.getTime(), fast.startedAt.getTime() + MAX_FAST_MS))
    checkEnd({ startedAt: fast.startedAt, endedAt })
    if (fast.isGoalPublished && endedAt < fast.goalAt) await publishCorrected(trx, accountId, fastId)
    return await trx.updateTable('fasts').where('id', '=', fast.id).set({ ended_at: endedAt, goal_due_at: null })
      .returning(fastColumns)
      .executeTakeFirstOrThrow()
  })
}

/** Changes the given fields and leaves the others unchanged. */
export async function updateFast (db: Db, fastId: string, fields: Partial<FastFields>, { accountId, now }: Context) {
  return await db.transaction().execute(async (trx) => {
    const fast = await lockFast(trx, accountId, fastId)
    const plan = fields.plan ?? fast.plan
    const storedGoal = plan === 'CUSTOM' ? fast.goalHours : undefined
    const goalHours = goalHoursOf(plan, fields.goalHours ?? storedGoal)
    const startedAt = fields.startedAt === undefined ? fast.startedAt : parseTime('startedAt', fields.startedAt, now)
    const endedAt = fields.endedAt === undefined ? fast.endedAt : parseTime('endedAt', fields.endedAt, now)
    checkTimes({ startedAt, endedAt }, now)
    await checkOverlap(trx, accountId, { startedAt, endedAt, except: fastId })
    const { goal_due_at, ...times } = columnsOf({ startedAt, endedAt, goalHours }, now)
    // What was published is not so. If it still runs, its goal is published again at its time.
    const isCorrected = fast.isGoalPublished && times.goal_at > (endedAt ?? now)
    if (isCorrected) await publishCorrected(trx, accountId, fastId)
    const goal = isCorrected
      ? { goal_due_at, goal_published_at: null }
      : { goal_due_at: fast.isGoalPublished ? null : goal_due_at }
    return await trx.updateTable('fasts').where('id', '=', fast.id)
      .set({ plan, goal_hours: goalHours, ...times, ...goal })
      .returning(fastColumns)
      .executeTakeFirstOrThrow()
  })
}

export async function deleteFast (db: Db, accountId: string, fastId: string) {
  await db.transaction().execute(async (trx) => {
    const { isGoalPublished } = await lockFast(trx, accountId, fastId)
    await trx.deleteFrom('fasts').where('id', '=', fastId).execute()
    if (isGoalPublished) await publishCorrected(trx, accountId, fastId)
  })
}

const publishCorrected = async (trx: Trx, accountId: string, fastId: string) =>
  await publish(trx, FastCorrected, fastId, { accountId, fastId })

async function lockFast (trx: Trx, accountId: string, fastId: string) {
  await lockAccount(trx, accountId)
  const fast = await trx.selectFrom('fasts').where('id', '=', fastId).where('account_id', '=', accountId)
    .select([...fastColumns, sql<boolean>`goal_published_at is not null`.as('isGoalPublished')])
    .forUpdate()
    .executeTakeFirst()
  if (!fast) throw new FastNotFound()
  return fast
}

interface Times {
  startedAt: Date
  endedAt: Date | null
}

async function checkOverlap (trx: Trx, accountId: string, { startedAt, endedAt, except }: Times & { except?: string }) {
  const other = await trx.selectFrom('fasts').where('account_id', '=', accountId)
    .where(sql<boolean>`started_at < coalesce(${endedAt}::timestamptz, 'infinity')`)
    .where(sql<boolean>`coalesce(ended_at, 'infinity') > ${startedAt}`)
    .$if(except !== undefined, (fasts) => fasts.where('id', '<>', except as string))
    .select('id').limit(1)
    .executeTakeFirst()
  if (other) throw new FastOverlaps()
}

/** A goal in the past is not published, nor is the goal of a fast that has ended. */
function columnsOf ({ startedAt, endedAt, goalHours }: Times & { goalHours: number }, now: Date) {
  const goalAt = goalAtOf(startedAt, goalHours)
  return {
    started_at: startedAt,
    ended_at: endedAt,
    goal_at: goalAt,
    goal_due_at: endedAt === null && goalAt > now ? goalAt : null
  }
}
