import { AccountsByToken } from '@tandem/contracts'
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { producerEventsTotal } from './metrics.ts'

export const BATCH_SIZE = 200

/** Finds the accounts of tokens. @returns how many events there were, at most BATCH_SIZE */
export async function lookUpTokens ({ db, callRpc }: Deps) {
  const rows = await db.selectFrom('producer_events').where('is_known', '=', false).where('account_id', 'is', null)
    .select(['id', 'account_token']).orderBy('id').limit(BATCH_SIZE).execute()
  if (rows.length === 0) return 0
  const accountTokens = [...new Set(rows.flatMap(({ account_token: token }) => token ?? []))]
  const found = await callRpc(AccountsByToken, { accountTokens })
  const byToken = new Map(found.map(({ accountToken, accountId }) => [accountToken, accountId]))
  await db.transaction().execute(async (trx) => {
    await sql`
      update producer_events set account_id = found.account_id
      from unnest(${[...byToken.keys()]}::uuid[], ${[...byToken.values()]}::uuid[]) found (token, account_id)
      where id = any(${rows.map(({ id }) => id)}::uuid[]) and account_token = found.token`.execute(trx)
    await dropEvents(trx, rows.filter(({ account_token: token }) => !byToken.has(token ?? '')).map(({ id }) => id))
  })
  return rows.length
}

/** Finds out whether accounts exist. @returns how many events there were, at most BATCH_SIZE */
export async function lookUpAccounts ({ db, findPeople }: Deps) {
  const rows = await db.selectFrom('producer_events').where('is_known', '=', false).where('account_id', 'is not', null)
    .select((row) => [
      'id',
      'account_id',
      row.exists(row.selectFrom('people').whereRef('people.account_id', '=', 'producer_events.account_id'))
        .$castTo<boolean>().as('isCopied')
    ])
    .orderBy('id').limit(BATCH_SIZE).execute()
  if (rows.length === 0) return 0
  const others = [...new Set(rows.flatMap(({ account_id: id, isCopied }) => id && !isCopied ? [id] : []))]
  const found = new Set((await findPeople(others)).map(({ accountId }) => accountId))
  const isKnown = ({ account_id: id, isCopied }: typeof rows[number]) => isCopied || found.has(id ?? '')
  await db.transaction().execute(async (trx) => {
    await sql`
      update producer_events set is_known = true where id = any(${rows.filter(isKnown).map(({ id }) => id)}::uuid[])`
      .execute(trx)
    await dropEvents(trx, rows.filter((row) => !isKnown(row)).map(({ id }) => id))
  })
  return rows.length
}

/** Deletes events for accounts that do not exist, and counts them. Their producer is not told. */
async function dropEvents (trx: Trx, ids: string[]) {
  if (ids.length === 0) return
  const { rows } = await sql<{ type: string }>`
    with dropped as (delete from producer_events where id = any(${ids}::uuid[]) returning producer_id, type),
      counted as (
        update producers set dropped_count = dropped_count + counts.count
        from (select producer_id, count(*) as count from dropped group by producer_id) counts
        where id = counts.producer_id
      )
    select type from dropped`.execute(trx)
  for (const { type } of rows) producerEventsTotal.inc({ type, outcome: 'dropped' })
}
