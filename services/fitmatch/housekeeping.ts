import { sql } from 'kysely'
import { repeat, type Log } from '@tandem/service-kit'
import type { Deps } from './deps.ts'
import { discardUnlessKept } from './photos/files.ts'
import { eraseOldSelfies } from './verification/actions.ts'

const HOUR = 60 * 60 * 1_000

/** Erases what is due and deletes what no longer matters to anyone, now and every hour. */
export const startHousekeeping = (deps: Deps, log: Log) => repeat(async () => await clearOld(deps), { every: HOUR, log })

export async function clearOld ({ db, media, selfies }: Deps) {
  await eraseOldSelfies(db, selfies)
  for (const table of ['swipe_quota', 'moves', 'report_quota'] as const) {
    await sql`delete from ${sql.table(table)} where day < current_date - 2`.execute(db)
  }
  await sql`delete from message_quota where began_at < now() - interval '1 day'`.execute(db)
  await sql`delete from typing where since < now() - interval '1 hour'`.execute(db)
  await sql`delete from setup_drafts where saved_at < now() - interval '1 year'`.execute(db)

  // Chats that a block has ended are only kept for a report.
  const pictures = await sql<{ url: string, owner: string }>`
    select image_url as url, sender_id as owner from messages join matches on matches.id = match_id
    where ended_at < now() - interval '30 days' and image_url is not null`.execute(db)
  await sql`delete from matches where ended_at < now() - interval '30 days'`.execute(db)
  await discardUnlessKept({ db, media }, pictures.rows)
}
