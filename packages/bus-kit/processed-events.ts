import type { Transaction } from 'kysely'

export interface ProcessedEventTables { processed_events: { event_id: string, consumer: string } }

/**
 * Spends an event's id in the transaction of the work it causes, for work that adds up.
 * @param consumer which work, if a service does several for one event
 * @returns false when that work is done already
 */
export async function claimOnce (trx: Transaction<ProcessedEventTables>, eventId: string, consumer: string): Promise<boolean> {
  const spent = await trx.insertInto('processed_events').values({ event_id: eventId, consumer })
    .onConflict((conflict) => conflict.doNothing())
    .returning('event_id')
    .executeTakeFirst()
  return spent !== undefined
}
