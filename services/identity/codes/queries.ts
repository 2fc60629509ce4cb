import { sql } from 'kysely'
import type { Purpose } from '../tables.ts'

export const TRIES_OF_A_CODE = 5

/** Whether the account of a row has a code that may still be tried; a column for a query of accounts. */
export const hasLiveCode = (purpose: Purpose) => sql<boolean>`exists (
  select from codes where account_id = accounts.id and purpose = ${purpose} and tries < ${TRIES_OF_A_CODE}::int and expires_at > now())`
