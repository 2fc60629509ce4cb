import { sql, type SqlBool } from 'kysely'
import { isCaseKept } from '@tandem/case-kit'

/** A report about the account that is open, was decided within 180 days, or belongs to a case that stays. */
export const isEvidence = (accountId: string) =>
  sql<SqlBool>`(reported_id = ${accountId}::uuid
    and (coalesce(resolved_at, now()) > now() - interval '180 days'
      or coalesce(case_id in (select id from cases where ${isCaseKept}), false)))`

/** A report of what happened at an activity that the account hosts, between two others. */
export const isOfHost = (accountId: string) => sql<SqlBool>`(activity ->> 'hostId' = ${accountId}::text)`

/** A decision of an operator within 24 months. */
export const isRecentDecision = () => sql<SqlBool>`(created_at > now() - interval '24 months')`
