import { sql, type SqlBool } from 'kysely'

/** A report about the account that is open, or was decided within 180 days. */
export const isEvidence = (accountId: string) =>
  sql<SqlBool>`(reported_id = ${accountId}::uuid
    and coalesce(resolved_at, now()) > now() - interval '180 days')`

/** A decision of an operator within 24 months. */
export const isRecentDecision = () => sql<SqlBool>`(created_at > now() - interval '24 months')`
