import { XP, xpOfWorkout } from '../progress/rules.ts'
import type { Summary } from '../progress/summaries.ts'
import type { LogData, LogType } from '../tables.ts'

/** What an item of a batch earned. */
export interface Earnings {
  xp: number
  /** The level after the batch. */
  level: number
  records: { exercise: string, weightKg: number, reps: number }[]
}

interface Changes {
  written: { key: string, id: string, type: LogType, day: string }[]
  gains: { level: number, days: { day: string, before: Summary | undefined, after: Summary | undefined }[] }
  records: { logId: string, exercise: string, weightKg: number, reps: number }[]
  sessions: { main: { id: string, day: string }, parts: { id: string }[], data: LogData }[]
}

/**
 * Shares what the days gained among the written logs, in their order: each takes what one of its kind gives, as far as
 * there is a gain. So together they have earned what the batch did, and a repeat earns nothing. Pure.
 */
export function earningsOf ({ written, gains, records, sessions }: Changes): (key: string) => Earnings {
  const sessionOf = new Map(sessions.flatMap((session) => session.parts.map(({ id }) => [id, session] as const)))
  const left = new Map(
    gains.days.flatMap(({ day, before, after }) =>
      (['FOOD', 'WATER', 'SLEEP', 'WORKOUT'] as const).map((type): [string, number] => [
        `${day} ${type}`,
        Math.max(0, xpByType(after)[type] - xpByType(before)[type])
      ])
    )
  )
  const recordsOf = Map.groupBy(records, ({ logId }) => logId)
  const earned = new Map<string, Earnings>()
  for (const { key, id, type, day } of written) {
    const session = sessionOf.get(id)
    const own = session?.parts.flatMap((part) => recordsOf.get(part.id) ?? []) ?? []
    session?.parts.forEach((part) => recordsOf.delete(part.id))
    const pool = `${session?.main.day ?? day} ${type}`
    const available = left.get(pool) ?? 0
    const xp = Math.min(available, session && type === 'WORKOUT' ? xpOfWorkout(session.data, own.length) : unitOf(type))
    left.set(pool, available - xp)
    earned.set(key, {
      xp,
      level: gains.level,
      records: own.map(({ logId: _, exercise, weightKg, reps }) => ({ exercise, weightKg, reps }))
    })
  }
  return (key) => earned.get(key) ?? { xp: 0, level: gains.level, records: [] }
}

const units: Partial<Record<LogType, number>> = { FOOD: XP.food, WATER: XP.water, SLEEP: XP.sleep }
const unitOf = (type: LogType) => units[type] ?? 0

/** The XP of a day by the types of logs; what no other type has is of workouts. */
function xpByType (day: Summary | undefined) {
  const FOOD = Math.min(day?.foodEntries ?? 0, XP.maxFoodsPerDay) * XP.food
  const WATER = Math.min(day?.waterEntries ?? 0, XP.maxWatersPerDay) * XP.water
  const SLEEP = Math.min(day?.sleepEntries ?? 0, XP.maxSleepsPerDay) * XP.sleep
  return { FOOD, WATER, SLEEP, WORKOUT: (day?.xp ?? 0) - FOOD - WATER - SLEEP }
}
