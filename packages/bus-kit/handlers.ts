import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import type { Envelope } from './envelope.ts'
import { describeErrors, validatorOf } from './validators.ts'

/** An event as a handler receives it. */
export interface ReceivedEvent<Data> {
  /** The same at every redelivery. */
  id: string
  /** What the event is about. */
  subject: string
  /**
   * When it was written to the outbox. Do not order events by it: two may share a millisecond, and clocks can be set
   * back.
   */
  time: Date
  /**
   * Increases from event to event of one `subject`, and is the same at every redelivery. It is 0 if the publisher does
   * not number its events.
   */
  sequence: number
  data: Data
}

export interface Handler {
  readonly event: EventDefinition
  /** Whether as many calls may run at once as events are fetched. */
  readonly batched: boolean
  /** @throws when the message is not valid for the event, or the work failed */
  readonly handle: (message: Envelope) => Promise<void>
}

/**
 * Consumes an event. The handler may be called again with the same event, late, and before an earlier one. It must come
 * to the same result, by a natural key or by claiming the event with `claimOnce`. When it throws, it is retried with
 * increasing delays. After the tenth attempt the event becomes a dead letter.
 * @param batched the work of many calls goes into a few statements. As many calls of such a handler run at once as
 * events are fetched;
 *   of others only a few, because each takes a connection
 */
export function on<Schema extends Type.TSchema> (
  event: EventDefinition<Schema>,
  handle: (received: ReceivedEvent<NoInfer<Type.Static<Schema>>>) => Promise<unknown>,
  { batched = false } = {}
): Handler {
  return {
    event,
    batched,
    async handle ({ id, subject, time, sequence, data }) {
      if (!validatorOf(event.data).Check(data)) {
        throw new Malformed(`invalid data for ${event.type}: ${describeErrors(event.data, data)}`)
      }
      await handle({
        id,
        subject,
        time: new Date(time),
        sequence: Number(sequence ?? 0),
        data: data as Type.Static<Schema>
      })
    }
  }
}

/** A message that no retry can fix. */
export class Malformed extends Error {}
