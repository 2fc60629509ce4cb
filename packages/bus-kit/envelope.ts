import Type from 'typebox'
import { Compile } from 'typebox/compile'

/** CloudEvents 1.0 in JSON, the format of every message on the event streams. */
const Envelope = Type.Object({
  specversion: Type.Literal('1.0'),
  id: Type.String({ format: 'uuid' }),
  source: Type.String(),
  type: Type.String(),
  subject: Type.String(),
  time: Type.String({ format: 'date-time' }),
  /**
   * The CloudEvents extension `sequence`: the position among all events of its service, in digits that sort as text.
   */
  sequence: Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$' })),
  datacontenttype: Type.Literal('application/json'),
  data: Type.Unknown()
})

export type Envelope = Type.Static<typeof Envelope>

const validator = Compile(Envelope)

/** The largest message that a stream accepts, headers included. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** The largest subject and data of an event, together. The rest is for the envelope and the headers. */
export const MAX_EVENT_BYTES = MAX_MESSAGE_BYTES - 1024

const SEQUENCE_DIGITS = 19

interface OutboxEvent {
  id: string
  seq: number
  type: string
  subject: string
  data: unknown
  occurred_at: Date
}

export function toEnvelope (service: string, { id, seq, type, subject, data, occurred_at }: OutboxEvent) {
  const message: Envelope = {
    specversion: '1.0',
    id,
    source: `/tandem/${service}`,
    type,
    subject,
    time: occurred_at.toISOString(),
    sequence: String(seq).padStart(SEQUENCE_DIGITS, '0'),
    datacontenttype: 'application/json',
    data
  }
  return JSON.stringify(message)
}

/** @throws when the text is not a CloudEvent in JSON */
export function parseEnvelope (text: string): Envelope {
  const message: unknown = JSON.parse(text)
  if (validator.Check(message)) return message
  throw new Error(
    `not a CloudEvent: ${validator.Errors(message).map((each) => `${each.instancePath} ${each.message}`).join(', ')}`
  )
}
