import { DEFAULT_TIMEZONE } from '@tandem/contracts'

/** Today's date in `timezone`, for example `2026-01-31`. */
export function todayIn (timezone: string) {
  try {
    return Temporal.Now.plainDateISO(timezone).toString()
  } catch {
    // This machine does not know the time zone. That must not fail the request.
    return Temporal.Now.plainDateISO(DEFAULT_TIMEZONE).toString()
  }
}
