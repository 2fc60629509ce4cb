import { sql } from 'kysely'
import type { Purpose } from '../tables.ts'

export const MAX_ATTEMPTS_PER_CODE = 5

/** SQL for a select list: whether the account of each row of `accounts` has a code that can still be used. */
export const hasActiveCode = (purpose: Purpose) =>
  sql<boolean>`exists (
  select from codes where account_id = accounts.id and purpose = ${purpose}
    and attempts < ${MAX_ATTEMPTS_PER_CODE}::int and expires_at > now())`
