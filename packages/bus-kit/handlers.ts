import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import type { Envelope } from './envelope.ts'
import { faultsOf, shapeOf } from './shapes.ts'

/** An event as its hearers get it. */
export interface Heard<Data> {
  /** The same at every repeat. */
  id: string
  /** What the event is about. */
  about: string
  /** When it was recorded. Two events may share a millisecond, and clocks are set back: not for putting events in order. */
  time: Date
  /** Rises from event to event of one `about`, and is the same at every repeat; 0 for an event of a service that does not number them yet. */
  sequence: number
  data: Data
}

export interface Handler {
  readonly event: EventDefinition
  /** Whether as many may be under way as are fetched. */
  readonly joins: boolean
  /** @throws when the message is not of the event's shape, or the work failed */
  readonly hear: (message: Envelope) => Promise<void>
}

/**
 * Hears an event. The handler may be called again with the same event, late, and before an earlier one:
 * it must come to the same result, by a natural key or by spending the event's id with `spend`.
 * What it throws is tried again, less and less often, and parked as a dead letter after the tenth time.
 * @param joins that the work of many goes into a few statements. Of such handlers as many run at once as events are fetched, of others
 *   a few, because each takes a connection
 */
export function on<Schema extends Type.TSchema> (
  event: EventDefinition<Schema>, handle: (heard: Heard<Type.Static<Schema>>) => Promise<unknown>, { joins = false } = {}
): Handler {
  return {
    event,
    joins,
    async hear ({ id, subject, time, sequence, data }) {
      if (!shapeOf(event.data).Check(data)) throw new Malformed(`not of the shape of ${event.type}: ${faultsOf(event.data, data)}`)
      await handle({ id, about: subject, time: new Date(time), sequence: Number(sequence ?? 0), data: data as Type.Static<Schema> })
    }
  }
}

/** What no repeat can mend. */
export class Malformed extends Error {}
