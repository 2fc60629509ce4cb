import { Degraded } from '@tandem/process-kit'
import { sql, type Kysely } from 'kysely'
import type { MailTables } from './mails.ts'

// An attempt that fails is repeated within a minute and a half, so by then more than one has failed.
const MAX_WAIT_SECONDS = 120

interface Backlog {
  count: number
  oldestSeconds: number | null
  lastError: string | null
}

/**
 * A health check of the emails of a service.
 * @throws Degraded with the number of waiting emails and the last error, if one has waited for more than two minutes
 */
export async function checkMailBacklog (db: Kysely<MailTables>) {
  // SMTP servers quote addresses in their responses.
  const { rows: [backlog] } = await sql<Backlog>`
    select count(*) as count, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds",
      regexp_replace((array_agg(last_error order by id desc) filter (where last_error is not null))[1], '\\S+@\\S+', '...', 'g')
        as "lastError"
    from mails where status in ('pending', 'sending')`.execute(db)
  const { count = 0, oldestSeconds, lastError } = backlog ?? {}
  if (!oldestSeconds || oldestSeconds <= MAX_WAIT_SECONDS) return
  throw new Degraded(
    `${count} emails wait, the oldest for ${Math.round(oldestSeconds)} s; last error: ${lastError ?? 'none yet'}`
  )
}
