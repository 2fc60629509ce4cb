import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { setBounded } from '@tandem/process-kit'
import type { Db } from '../tables.ts'

/** An account seen within this time counts as online. */
export const ONLINE_WITHIN = '5 minutes'

const INTERVAL_MS = 60_000
const MAX_CACHED_ACCOUNTS = 50_000

/** A preHandler that records the account's last activity, at most once a minute. */
export function recordActivity (db: Db) {
  const recordedAt = new Map<string, number>()
  return async ({ account, log }: FastifyRequest) => {
    // The type says otherwise, but public routes have no account.
    const accountId = (account as typeof account | undefined)?.id
    if (!accountId || Date.now() - (recordedAt.get(accountId) ?? 0) < INTERVAL_MS) return
    setBounded(recordedAt, accountId, Date.now(), MAX_CACHED_ACCOUNTS)
    await sql`
      insert into activity (account_id, last_active_at) values (${accountId}, now())
      on conflict (account_id) do update set last_active_at = now()`.execute(db)
      // A request does not fail because its activity was not recorded.
      .catch((error: unknown) => log.warn({ err: error }, 'could not record the activity'))
  }
}

/** Records that accounts with a profile are active, at most once a minute each. */
export async function recordActivityOf (db: Db, accountIds: string[]) {
  // Locked in the same order by each call, so that no two deadlock.
  await sql`
    insert into activity (account_id, last_active_at)
    select account_id, now() from profiles where account_id = any(${accountIds}::uuid[]) order by account_id
    on conflict (account_id) do update set last_active_at = now()
    where activity.last_active_at < now() - interval '1 minute'`.execute(db)
}
