import { dayAround } from '@tandem/account-kit'

/** When today starts and ends in `timezone`. */
export const todayIn = (timezone: string) => dayAround(timezone, new Date())
