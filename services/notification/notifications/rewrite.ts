import { sql, type RawBuilder } from 'kysely'
import type { Deps } from '../deps.ts'
import { changedFrame, logFrames } from '../frames/log.ts'
import type { Params, Trx } from '../tables.ts'
import { changeInbox } from './change-inbox.ts'
import { lockInboxes } from './removal.ts'
import { lockSubjects } from './withdraw.ts'

/** New values for the texts of notifications. */
export interface Rewriting {
  subject: string
  /** Only the values that a text has are replaced. One that was removed (null) stays removed. */
  params: Params
}

/**
 * Rewrites the texts of notifications about a subject, also in pushes that wait. Earlier events that arrive later get the
 * new values, except an excerpt: what people write is not kept here, so they quote nothing.
 * @param sequence of the event that rewrites
 */
export async function rewrite (
  deps: Pick<Deps, 'db' | 'wakeUp' | 'pushes'>,
  { subject, params }: Rewriting,
  sequence: number
) {
  await changeInbox(deps, async (trx) => {
    await lockSubjects(trx, [subject], 'ALONE')
    const kept = 'excerpt' in params ? { ...params, excerpt: null } : params
    if (!await storeRewriting(trx, { subject, params: kept }, sequence)) return { signal: [] }

    const isAbout = sql`(subjects @> array[${subject}::text] and cardinality(subjects) > 0 and not withdrawn
      and sequence < ${sequence})`
    const { rows } = await sql<{ accountId: string }>`
      select distinct account_id as "accountId" from notifications where ${isAbout}`.execute(trx)
    await lockInboxes(trx, rows.map(({ accountId }) => accountId))
    const patch = patchOf(sql`${JSON.stringify(params)}::jsonb`, sql`params`)
    const { rows: changed } = await sql<{ accountId: string, dedupeKey: string, isListed: boolean }>`
      update notifications set params = params || ${patch}
      where ${isAbout} and params <> params || ${patch}
      returning account_id as "accountId", dedupe_key as "dedupeKey", listed and removed_at is null as "isListed"`
      .execute(trx)
    const listed = changed.filter(({ isListed }) => isListed)
    return {
      signal: await logFrames(trx, listed.map(({ accountId, dedupeKey }) => changedFrame(accountId, dedupeKey)))
    }
  })
}

/** @returns whether it is the newest one of its subject */
async function storeRewriting (trx: Trx, { subject, params }: Rewriting, sequence: number) {
  const stored = await trx.insertInto('rewritings')
    .values({ subject, params: JSON.stringify(params), sequence })
    .onConflict((conflict) =>
      conflict.column('subject')
        .doUpdateSet({ params: JSON.stringify(params), sequence, rewritten_at: sql<Date>`now()` })
        .where('rewritings.sequence', '<', sequence)
    )
    .returning('subject').executeTakeFirst()
  return stored !== undefined
}

/** The part of `changes` that replaces values which `params` has. */
const patchOf = (changes: RawBuilder<unknown>, params: RawBuilder<unknown>) =>
  sql`(
  select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${changes}) where ${params} -> key <> 'null')`

/** The params of a planned notification, with what later events than its own have changed. */
export const rewrittenParams = (planned: RawBuilder<unknown>) =>
  sql`${planned}.params || coalesce((
    select jsonb_object_agg(key, value) from rewritings, jsonb_each(rewritings.params)
    where rewritings.subject = any(${planned}.subjects) and rewritings.sequence > ${planned}.sequence
      and ${planned}.params -> key <> 'null'), '{}')`
