import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import type { ValidEvent } from './parse.ts'

/**
 * Stores events of a producer, once for each id within 7 days, and wakes what handles them.
 * @returns whether each is new
 */
export async function storeEvents (
  { db, arrivals }: Pick<Deps, 'db' | 'arrivals'>,
  producerId: string,
  events: ValidEvent[]
): Promise<boolean[]> {
  if (events.length === 0) return []
  const isNew = await db.transaction().execute(async (trx) => {
    // In one order, so that two requests with the same ids wait for each other instead of deadlocking.
    const { rows } = await sql<{ id: string }>`
      insert into producer_event_ids (producer_id, event_id)
      select ${producerId}, event_id from unnest(${[...new Set(events.map(({ id }) => id))].sort()}::text[]) event_id
      on conflict do nothing returning event_id as id`.execute(trx)
    const unused = new Set(rows.map(({ id }) => id))
    const isNew = events.map(({ id }) => unused.delete(id))
    const waiting = events.filter((_, number) => isNew[number]).flatMap(toRows)
    await sql`
      insert into producer_events (
        producer_id, event_id, type, account_id, account_token, is_known, data, occurred_at, due_at
      )
      select ${producerId}, event_id, type, account_id, account_token,
        exists (select from people where people.account_id = each.account_id), data, occurred_at, due_at
      from json_populate_recordset(null::producer_events, ${JSON.stringify(waiting)}) each`.execute(trx)
    return isNew
  })
  arrivals.emit('event')
  return isNew
}

const toRows = ({ id, type, occurredAt, accountIds, accountToken, dueAt, data }: ValidEvent) =>
  (accountToken === null ? accountIds : [null]).map((accountId) => ({
    event_id: id,
    type,
    account_id: accountId,
    account_token: accountToken,
    data,
    occurred_at: occurredAt,
    due_at: dueAt
  }))
