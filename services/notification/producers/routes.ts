import { producerEvents, producerEventTypes, type ProducerEventType } from '@tandem/contracts'
import {
  data,
  Data,
  Enum,
  languageOfRequest,
  named,
  Nullable,
  PayloadTooLarge,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { InvalidProducerKey, NoEventAccepted } from '../errors.ts'
import { readKey } from './keys.ts'
import { producerEventsTotal, rejectedEventsTotal } from './metrics.ts'
import { head, parseEvent, type RejectedEvent, type ValidEvent } from './parse.ts'
import { findProducer, type Producer } from './queries.ts'
import { markUsed } from './actions.ts'
import { takeFromRate } from './rate.ts'
import { storeEvents } from './receive.ts'

const MAX_EVENTS = 100
const MAX_BYTES = 256 * 1024

const schemaNames: Record<ProducerEventType, string> = {
  'booking.confirmed': 'BookingConfirmedEvent',
  'booking.reminder': 'BookingReminderEvent',
  'booking.cancelled': 'BookingCancelledEvent',
  'admin.announcement': 'AnnouncementEvent'
}
const example = {
  specversion: '1.0',
  id: 'c-1042',
  source: 'https://bookings.example/jakarta',
  type: 'booking.confirmed',
  time: '2026-03-14T07:30:00+07:00',
  data: {
    accountId: '019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f',
    bookingId: 'B-1042',
    title: 'Yoga with Dewi',
    startsAt: '2026-03-15T18:00:00+07:00',
    endsAt: '2026-03-15T19:00:00+07:00'
  }
}
const ProducerEvent = named(
  'ProducerEvent',
  Type.Union(
    producerEventTypes.map((type) =>
      named(schemaNames[type], Type.Object({ ...head, type: Type.Literal(type), data: producerEvents[type] }))
    ),
    { description: 'A CloudEvent, version 1.0. `data` has either `accountId` or `accountToken`', examples: [example] }
  )
)

// Each event is validated separately, so the route accepts any value.
const Events = Type.Unsafe<unknown>({
  documentedAs: Type.Union([ProducerEvent, Type.Array(ProducerEvent, { minItems: 1, maxItems: MAX_EVENTS })])
})

const Result = named(
  'ProducerEventResult',
  Type.Object({
    id: Nullable(Type.String({ examples: ['c-1042'] })),
    status: Enum(['accepted', 'repeated', 'rejected'], {
      description: 'repeated: an event with this id was accepted within 7 days'
    }),
    code: Type.Optional(
      Enum(['VALIDATION_ERROR', 'FORBIDDEN'], { description: 'FORBIDDEN: not a type of this producer' })
    ),
    field: Type.Optional(Type.String({ description: 'What is wrong', examples: ['data.startsAt'] })),
    error: Type.Optional(Type.String({
      description: 'Why, in the language of Accept-Language',
      examples: ['data.startsAt must be a date and time such as 2026-01-31T08:00:00Z']
    }))
  })
)
const Results = named('ProducerEventResults', Type.Object({ results: Type.Array(Result) }))

/** Where systems of the company send events. They have keys, and no accounts. */
export const producerRoutes: Routes<Deps> = async (app, deps) => {
  const { db, now } = deps
  app.decorateRequest('producer')
  app.addContentTypeParser(
    ['application/cloudevents+json', 'application/cloudevents-batch+json'],
    { parseAs: 'string' },
    app.getDefaultJsonParser('remove', 'remove')
  )

  app.post('/producers/events', {
    bodyLimit: MAX_BYTES,
    config: { public: true, validatesOwnBody: true },
    schema: {
      operationId: 'sendProducerEvents',
      summary: 'Send events of another system',
      description:
        'For systems of the company, such as a booking system. `Authorization` is `Bearer` and the key of the ' +
        'producer. The body is one CloudEvent or a list, of 256 KiB at most. Events that were accepted are stored and ' +
        'will be handled; whether their accounts exist is not answered. Sending an event again changes nothing.',
      'x-extension': true,
      body: Events,
      errors: [InvalidProducerKey, NoEventAccepted],
      response: { 202: Data(Results) }
    },
    // Before the body is parsed: without a key nobody makes us read 256 KiB.
    async onRequest (request) {
      const key = readKey(request.headers.authorization)
      const producer = key === undefined ? undefined : await findProducer(db, key)
      if (!producer) throw new InvalidProducerKey()
      request.setDecorator('producer', producer)
    }
  }, async (request, reply) => {
    const { body } = request
    const producer = request.getDecorator<Producer>('producer')
    const values: unknown[] = Array.isArray(body) ? body : [body]
    if (values.length > MAX_EVENTS) throw new PayloadTooLarge()
    if (values.length === 0) throw new ValidationError('noEvent')
    await takeFromRate(db, producer, values.length)

    const options = {
      allowedTypes: producer.eventTypes,
      linkHost: new URL(deps.publicUrl).hostname,
      now: now(),
      language: languageOfRequest(request) ?? 'en'
    }
    const parsed = values.map((value) => parseEvent(value, options))
    const valid = parsed.filter((each): each is ValidEvent => 'type' in each)
    const isNew = await storeEvents(deps, producer.id, valid)
    await markUsed(db, producer)
    const stored = new Map(valid.map((each, number) => [each, isNew[number]]))
    const results = parsed.map((each) => toResult(each, stored.get(each as ValidEvent)))
    if (valid.length > 0) return reply.code(202).send(data({ results }))
    throw new NoEventAccepted(results)
  })
}

function toResult (event: ValidEvent | RejectedEvent, isNew: boolean | undefined) {
  const status = 'code' in event ? 'rejected' as const : isNew ? 'accepted' as const : 'repeated' as const
  if (!('code' in event)) {
    producerEventsTotal.inc({ type: event.type, outcome: status })
    return { id: event.id, status }
  }
  rejectedEventsTotal.inc()
  const { id, code, field, error } = event
  return { id, status, code, field, error }
}
