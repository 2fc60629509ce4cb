import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/** Whoever was seen within this time is online. */
export const ONLINE_WITHIN = '5 minutes'

const MINUTE = 60_000
const REMEMBERED = 50_000

/** A preHandler that notes, at most once a minute for each person, that he is here. */
export function recordActivity (db: Db) {
  const noted = new Map<string, number>()
  return async ({ account, log }: FastifyRequest) => {
    // Public routes have no account, whatever the type says.
    const accountId = (account as typeof account | undefined)?.id
    if (!accountId || Date.now() - (noted.get(accountId) ?? 0) < MINUTE) return
    if (noted.size >= REMEMBERED) noted.clear()
    noted.set(accountId, Date.now())
    await sql`
      insert into activity (account_id, last_active_at) values (${accountId}, now())
      on conflict (account_id) do update set last_active_at = now()`.execute(db)
      // Nobody's request fails because it could not be noted.
      .catch((error: unknown) => log.warn({ err: error }, 'activity was not noted'))
  }
}
