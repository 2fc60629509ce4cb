import { sql } from 'kysely'
import type { Entitlement } from '@tandem/contracts'

/** Whether the subscription of the current row's member unlocks something now. */
export const has = (entitlement: Entitlement) =>
  sql<boolean>`coalesce(members.subscribed_until > now() and ${entitlement} = any(members.entitlements), false)`
