import { sql } from 'kysely'
import { startOfDay } from '@tandem/account-kit'
import { dayFromNumber } from '../calendar.ts'
import type { Trx } from '../tables.ts'
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
  const water = logged.filter(({ isWater }) => isWater)
  return candidates.flatMap((number) => [
    ...isLogged(number, logged) ? [] : [{ kind: 'DAY' as const, number, counts: isMissing(number, logged) }],
    ...isLogged(number, water) ? [] : [{ kind: 'WATER' as const, number, counts: isMissing(number, water) }]
  ])
}

const zonesOf = (number: number, logged: LoggedDay[]) => logged.filter(({ day }) => day === dayFromNumber(number))
const isLogged = (number: number, logged: LoggedDay[]) => zonesOf(number, logged).length > 0

const isMissing = (number: number, logged: LoggedDay[]) =>
  zonesOf(number - 1, logged).some((before) =>
    zonesOf(number + 1, logged).some((after) =>
      startOf(number + 1, after.timezone) - startOf(number, before.timezone) < HALF_DAY_MS
    )
  )

const startOf = (number: number, timezone: string) =>
  startOfDay(timezone, Temporal.PlainDate.from(dayFromNumber(number))).getTime()
