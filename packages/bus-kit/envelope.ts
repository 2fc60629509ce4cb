import Type from 'typebox'
import { Compile } from 'typebox/compile'

/** CloudEvents 1.0 in JSON: the form of every message on the event streams. */
const Envelope = Type.Object({
  specversion: Type.Literal('1.0'),
  id: Type.String({ format: 'uuid' }),
  source: Type.String(),
  type: Type.String(),
  subject: Type.String(),
  time: Type.String({ format: 'date-time' }),
  /** The place among all events of its service, as an extension of CloudEvents has it: digits that sort as text. */
  sequence: Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$' })),
  datacontenttype: Type.Literal('application/json'),
  data: Type.Unknown()
})

export type Envelope = Type.Static<typeof Envelope>

const envelope = Compile(Envelope)

/** The most that a stream takes as one message, headers included. */
export const MAX_MESSAGE_BYTES = 64 * 1024

/** The most that an event's subject and data may take together: the rest is for what stands around them. */
export const MAX_EVENT_BYTES = MAX_MESSAGE_BYTES - 1024

const SEQUENCE_DIGITS = 19

interface Said { id: string, seq: number, type: string, subject: string, data: unknown, occurred_at: Date }

export function toEnvelope (service: string, { id, seq, type, subject, data, occurred_at }: Said) {
  const message: Envelope = {
    specversion: '1.0',
    id,
    source: `/tandem/${service}`,
    type,
    subject: subject,
    time: occurred_at.toISOString(),
    sequence: String(seq).padStart(SEQUENCE_DIGITS, '0'),
    datacontenttype: 'application/json',
    data
  }
  return JSON.stringify(message)
}

/** @throws when the text is no CloudEvent in JSON */
export function parseEnvelope (text: string): Envelope {
  const message: unknown = JSON.parse(text)
  if (envelope.Check(message)) return message
  throw new Error(`not a CloudEvent: ${envelope.Errors(message).map((each) => `${each.instancePath} ${each.message}`).join(', ')}`)
}
