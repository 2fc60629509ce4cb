import { sql } from 'kysely'
import { DAY_MS, HEART_RATES_KEPT_DAYS } from '../log-types/data.ts'
import type { Db } from '../tables.ts'

const ROWS_AT_ONCE = 5_000

/** Keeps of heart rates that are older than 90 days only the minimum, maximum and average. */
export async function summarizeOldHeartRates (db: Db) {
  // A day more, so that what is still accepted is not written again and again.
  const before = new Date(Date.now() - (HEART_RATES_KEPT_DAYS + 1) * DAY_MS)
  await sql`
    update logs set data = data - 'samples'
    where type = 'HEART_RATE' and data ?| array['bpm', 'samples'] and data ? 'samples' and at < ${before}`.execute(db)
  while (await summarizeSingleOnes(db, before)) {
    /* The next ones. */
  }
}

/** Replaces single heart rates by one log for each day and source. Returns whether there may be more. */
async function summarizeSingleOnes (db: Db, before: Date) {
  const { numAffectedRows = 0n } = await sql`
    with old as (
      delete from logs where id in (
        select id from logs
        where type = 'HEART_RATE' and data ?| array['bpm', 'samples'] and data ? 'bpm' and at < ${before}
        limit ${sql.lit(ROWS_AT_ONCE)})
      returning account_id, day, timezone, source, at, (data ->> 'bpm')::numeric as bpm
    ), summaries as (
      select account_id, day, min(timezone) as timezone, source, min(at) as at, min(bpm) as min, max(bpm) as max,
        sum(bpm) as sum, count(*) as count
      from old group by account_id, day, source
    )
    insert into logs as stored (account_id, client_id, type, at, day, timezone, source, data)
    select account_id, 'heart rates ' || day || ' ' || coalesce(source::text, ''), 'HEART_RATE', at, day, timezone, source,
      jsonb_build_object('min', min, 'max', max, 'avg', round(sum / count, 1), 'count', count)
    from summaries
    on conflict (account_id, client_id) do update set data = jsonb_build_object(
      'min', least((stored.data ->> 'min')::numeric, (excluded.data ->> 'min')::numeric),
      'max', greatest((stored.data ->> 'max')::numeric, (excluded.data ->> 'max')::numeric),
      'count', (stored.data ->> 'count')::integer + (excluded.data ->> 'count')::integer,
      'avg', round(
        ((stored.data ->> 'avg')::numeric * (stored.data ->> 'count')::integer +
          (excluded.data ->> 'avg')::numeric * (excluded.data ->> 'count')::integer) /
        ((stored.data ->> 'count')::integer + (excluded.data ->> 'count')::integer), 1))`.execute(db)
  return numAffectedRows > 0n
}
