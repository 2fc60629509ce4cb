import { sql } from 'kysely'
import type { Db, Trx } from '../tables.ts'
import { isEvidence, isOfHost } from './rows.ts'

// What the host of an activity wrote, and who that is.
const hostFields = sql`'{title,note,locationName,venue,hostId}'::text[]`
const NOBODY = '00000000-0000-0000-0000-000000000000'

/**
 * Reports that the person made stay, without them: another person's case does not end because a reporter is erased. What
 * the person wrote in the copied chat or about the copied activity goes. Reports about the person are evidence for a while.
 */
export async function eraseReports (trx: Trx, accountId: string, limit: number) {
  const { numAffectedRows: ofHost = 0n } = await sql`
    update reports set activity = activity - ${hostFields}
    where id in (select id from reports where ${isOfHost(accountId)} limit ${sql.lit(limit)})`.execute(trx)
  const { numAffectedRows: blanked = 0n } = await sql`
    update reports set reporter_id = ${NOBODY}, details = null, evidence = '{}', messages = coalesce((
      select jsonb_agg(message) from jsonb_array_elements(messages) as message
      where message ->> 'senderId' is distinct from ${accountId}::text
    ), '[]'), activity = case when activity ->> 'hostedBy' = 'REPORTER' then activity - ${hostFields} else activity end
    where id in (
      select id from reports where reporter_id = ${accountId} limit ${sql.lit(limit - Number(ofHost))}
    )`.execute(trx)
  const count = Number(ofHost + blanked)
  const { numDeletedRows } = await trx.deleteFrom('reports')
    .where('id', 'in', (reports) =>
      reports.selectFrom('reports').where('reported_id', '=', accountId)
        .where((row) => row.not(isEvidence(accountId))).select('id').limit(limit - count))
    .executeTakeFirst()
  return count + Number(numDeletedRows)
}

/** Evidence about somebody else without what the person wrote or planned. Of `others`, one is the reporter. */
export const withoutPartOf = (accountId: string) =>
  sql<object>`content
    || jsonb_build_object('messages', (
      select coalesce(jsonb_agg(message), '[]') from jsonb_array_elements(content -> 'messages') as message
      where message ->> 'senderId' is distinct from ${accountId}::text
    ))
    || case when content -> 'activity' ->> 'hostedBy' = 'REPORTER' or content -> 'activity' ->> 'hostId' = ${accountId}
      then jsonb_build_object('activity', (content -> 'activity') - ${hostFields}) else '{}' end`

/** Deletes what was kept of erased accounts, once its time is over. */
export async function deleteKeptEvidence (db: Db) {
  await sql`
    delete from audit_log where created_at < now() - interval '24 months'
      and account_id in (select account_id from departures)`.execute(db)
  await sql`
    delete from reports where resolved_at < now() - interval '180 days'
      and (case_id is null or case_id in (select id from cases where purged_at is not null))
      and reported_id in (select account_id from departures)`.execute(db)
}
