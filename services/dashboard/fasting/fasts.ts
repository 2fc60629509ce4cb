import { ValidationError } from '@tandem/http-kit'
import type { FastPlan } from '../tables.ts'

const HOUR_MS = 60 * 60 * 1_000
export const MAX_FAST_MS = 72 * HOUR_MS
const MAX_AGE_MS = 366 * 24 * HOUR_MS
// Phones with a fast clock. Their times count as now.
const MAX_CLOCK_SKEW_MS = 10 * 60 * 1_000

const hoursOfPlan: Record<Exclude<FastPlan, 'CUSTOM'>, number> = {
  '12:12': 12,
  '14:10': 14,
  '16:8': 16,
  '18:6': 18,
  '20:4': 20
}

/** The goal of a plan in hours. @throws ValidationError unless `goalHours` fits the plan */
export function goalHoursOf (plan: FastPlan, goalHours: number | undefined): number {
  if (plan === 'CUSTOM') {
    if (goalHours === undefined) {
      throw new ValidationError('goalHoursIsRequiredForPlanCUSTOM', ['goalHours'])
    }
    return goalHours
  }
  const hours = hoursOfPlan[plan]
  if (goalHours !== undefined && goalHours !== hours) {
    throw new ValidationError('goalHoursOfPlanPlanIsHours', ['goalHours'], { plan, hours })
  }
  return hours
}

/** A time that a client sent. @throws ValidationError if it is in the future */
export function parseTime (field: string, sent: string, now: Date): Date {
  const at = new Date(sent)
  if (at.getTime() > now.getTime() + MAX_CLOCK_SKEW_MS) {
    throw new ValidationError('fieldMustNotBeInFuture', [field], { field })
  }
  return at > now ? now : at
}

interface FastTimes {
  startedAt: Date
  /** Null while it runs. */
  endedAt: Date | null
}

/** @throws ValidationError for a fast that ends before it starts */
export function checkEnd ({ startedAt, endedAt }: FastTimes) {
  if (endedAt !== null && endedAt <= startedAt) {
    throw new ValidationError('endedAtMustBeAfterStartedAt', ['endedAt'])
  }
}

/** @throws ValidationError for a fast that is too long or too old, or ends before it starts */
export function checkTimes ({ startedAt, endedAt }: FastTimes, now: Date) {
  checkEnd({ startedAt, endedAt })
  if ((endedAt ?? now).getTime() - startedAt.getTime() > MAX_FAST_MS) {
    throw new ValidationError('fastHasAtMost72Hours')
  }
  if (now.getTime() - startedAt.getTime() > MAX_AGE_MS) {
    throw new ValidationError('startedAtMustNotBeMoreThanYearAgo', ['startedAt'])
  }
}

/** When a fast reaches its goal. */
export const goalAtOf = (startedAt: Date, goalHours: number) => new Date(startedAt.getTime() + goalHours * HOUR_MS)
