import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import type { Envelope } from './envelope.ts'
import { describeErrors, validatorOf } from './validators.ts'

/** An event as its hearers get it. */
export interface ReceivedEvent<Data> {
  /** The same at every repeat. */
  id: string
  /** What the event is about. */
  subject: string
  /** When it was recorded. Two events may share a millisecond, and clocks are set back: not for putting events in order. */
  time: Date
  /** Rises from event to event of one `subject`, and is the same at every repeat; 0 for an event of a service that does not number them yet. */
  sequence: number
  data: Data
}

export interface Handler {
  readonly event: EventDefinition
  /** Whether as many may be under way as are fetched. */
  readonly batched: boolean
  /** @throws when the message is not of the event's shape, or the work failed */
  readonly handle: (message: Envelope) => Promise<void>
}

/**
 * Hears an event. The handler may be called again with the same event, late, and before an earlier one:
 * it must come to the same result, by a natural key or by spending the event's id with `claimOnce`.
 * What it throws is tried again, less and less often, and parked as a failed message after the tenth time.
 * @param batched that the work of many goes into a few statements. Of such handlers as many run at once as events are fetched, of others
 *   a few, because each takes a connection
 */
export function on<Schema extends Type.TSchema> (
  event: EventDefinition<Schema>, handle: (received: ReceivedEvent<Type.Static<Schema>>) => Promise<unknown>, { batched = false } = {}
): Handler {
  return {
    event,
    batched,
    async handle ({ id, subject, time, sequence, data }) {
      if (!validatorOf(event.data).Check(data)) throw new Malformed(`not of the shape of ${event.type}: ${describeErrors(event.data, data)}`)
      await handle({ id, subject, time: new Date(time), sequence: Number(sequence ?? 0), data: data as Type.Static<Schema> })
    }
  }
}

/** What no repeat can mend. */
export class Malformed extends Error {}
