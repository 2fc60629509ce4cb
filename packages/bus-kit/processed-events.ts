import type { Transaction } from 'kysely'

export interface ProcessedEventTables {
  processed_events: { event_id: string, consumer: string }
}

/**
 * Claims an event in the transaction of the work it causes, so that work which cannot be repeated is done once.
 * @param consumer names the work, for a service that does several things for one event
 * @returns false when the work was already done
 */
export async function claimOnce (
  trx: Transaction<ProcessedEventTables>,
  eventId: string,
  consumer: string
): Promise<boolean> {
  const claimed = await trx.insertInto('processed_events').values({ event_id: eventId, consumer })
    .onConflict((conflict) => conflict.doNothing())
    .returning('event_id')
    .executeTakeFirst()
  return claimed !== undefined
}
