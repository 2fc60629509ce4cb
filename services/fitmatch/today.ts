import { dayIn } from '@tandem/http-kit'

/** Today's date in `timezone`, for example `2026-01-31`. */
export const todayIn = (timezone: string) => dayIn(timezone, new Date()).toString()
