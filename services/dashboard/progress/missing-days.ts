import { sql } from 'kysely'
import { startOfDay } from '@tandem/account-kit'
import { dayFromNumber } from '../calendar.ts'
import { maxOf, minOf } from '../log-types/data.ts'
import type { StreakKind, Trx } from '../tables.ts'
import type { StreakChange } from './streaks.ts'

const HALF_DAY_MS = 12 * 60 * 60 * 1_000

interface LoggedDay {
  day: string
  timezone: string
  isWater: boolean
}

const withNeighbors = (numbers: number[]) => [...new Set(numbers.flatMap((number) => [number - 1, number, number + 1]))]

/**
 * Which of the changed days and their neighbors count for a streak without a log, because they did not exist for the
 * person: on the way from Honolulu to Auckland the 17th is followed by the 19th. Between the end of the day before, where
 * that was logged, and the start of the day after, where that was, less than half a day passed.
 */
export async function findMissingDays (trx: Trx, accountId: string, changed: number[]): Promise<StreakChange[]> {
  const candidates = withNeighbors(changed)
  const days = withNeighbors(candidates).map(dayFromNumber)
  const logged = await trx.selectFrom('logs').where('account_id', '=', accountId)
    .where(sql<boolean>`day = any(${days}::date[])`)
    .select([sql<string>`day::text`.as('day'), 'timezone', sql<boolean>`type = 'WATER'`.as('isWater')])
    .distinct()
    .execute()
  return [
    ...missingOf('DAY', candidates, logged),
    ...missingOf('WATER', candidates, logged.filter(({ isWater }) => isWater))
  ]
}

function missingOf (kind: StreakKind, candidates: number[], logged: LoggedDay[]): StreakChange[] {
  const byDay = Map.groupBy(logged, ({ day }) => day)
  const loggedOn = (number: number) => byDay.get(dayFromNumber(number)) ?? []
  return candidates.filter((number) => loggedOn(number).length === 0).map((number) => ({
    kind,
    number,
    counts: isMissing(number, { before: loggedOn(number - 1), after: loggedOn(number + 1) })
  }))
}

/** A day can be logged in hundreds of time zones: of those before the latest counts, of those after the earliest. */
const isMissing = (number: number, { before, after }: { before: LoggedDay[], after: LoggedDay[] }) =>
  minOf(after.map(({ timezone }) => startOf(number + 1, timezone))) -
      maxOf(before.map(({ timezone }) => startOf(number, timezone))) < HALF_DAY_MS

const startOf = (number: number, timezone: string) =>
  startOfDay(timezone, Temporal.PlainDate.from(dayFromNumber(number))).getTime()
