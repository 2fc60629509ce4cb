import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api'
import { headers, type Msg, type NatsConnection } from 'nats'
import createError from '@fastify/error'
import type Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { QuestionDefinition } from '@tandem/contracts'
import type { Bus } from './connection.ts'

const DEADLINE = 800

/** The one who was asked is away, too slow, or talks otherwise than agreed. */
export const Unavailable = createError('SERVICE_UNAVAILABLE', 'A part of the service is away; please try again', 503)

export type Ask = <Request extends Type.TSchema, Answer extends Type.TSchema>(
  question: QuestionDefinition<Request, Answer>, request: Type.Static<Request>, options?: { deadline?: number }
) => Promise<Type.Static<Answer>>

/** Gives a function that asks other services over `bus`. @throws Unavailable after the deadline, 800 ms unless told. */
export function asker (bus: Bus): Ask {
  return async (question, request, { deadline = DEADLINE } = {}) => {
    const connection = bus.current()
    if (!connection) throw new Unavailable()

    const carrier: { traceparent?: string } = {}
    propagation.inject(context.active(), carrier)
    const carried = headers()
    if (carrier.traceparent) carried.set('traceparent', carrier.traceparent)

    let reply: Msg
    try {
      reply = await connection.request(subjectOf(question), JSON.stringify(request), { timeout: deadline, headers: carried })
    } catch (error) {
      bus.log.warn({ err: error, question: question.type }, 'a question got no answer')
      throw new Unavailable()
    }
    if (reply.headers?.get('failed')) throw new Unavailable()
    const answer: unknown = JSON.parse(reply.string())
    if (validatorOf(question.answer).Check(answer)) return answer as Type.Static<typeof question.answer>
    bus.log.error({ question: question.type }, 'a question got an answer of another shape')
    throw new Unavailable()
  }
}

export interface Answerer {
  readonly question: QuestionDefinition
  readonly answer: (request: unknown) => Promise<unknown>
}

/** Answers a question; `reply` must read only, for whoever asks may ask twice. */
export function answer<Request extends Type.TSchema, Answer extends Type.TSchema> (
  question: QuestionDefinition<Request, Answer>, reply: (request: Type.Static<Request>) => Promise<Type.Static<Answer>>
): Answerer {
  const shape = Compile(question.request)
  return {
    question,
    async answer (request) {
      if (!shape.Check(request)) throw new Error(`a request of ${question.type} has another shape`)
      return await reply(request as Type.Static<Request>)
    }
  }
}

/** Listens for questions at this and every later connection; replicas share them. */
export function startAnswers (bus: Bus, answerers: Answerer[]) {
  let told: NatsConnection | undefined
  bus.onConnect((connection) => {
    // Subscriptions outlive a reconnect.
    if (told === connection) return
    told = connection
    for (const answerer of answerers) {
      connection.subscribe(subjectOf(answerer.question), {
        queue: bus.service,
        callback: (_, message) => { void respond(bus, answerer, message) }
      })
    }
  })
}

async function respond (bus: Bus, { question, answer }: Answerer, message: Msg) {
  const active = propagation.extract(ROOT_CONTEXT, { traceparent: message.headers?.get('traceparent') })
  try {
    const reply = await context.with(active, async () => await answer(JSON.parse(message.string())))
    message.respond(JSON.stringify(reply))
  } catch (error) {
    bus.log.error({ err: error, question: question.type }, 'a question could not be answered')
    const failed = headers()
    failed.set('failed', 'true')
    message.respond('', { headers: failed })
  }
}

const subjectOf = (question: QuestionDefinition) => `ask.${question.type}`

const validators = new WeakMap<Type.TSchema, Validator>()

function validatorOf (schema: Type.TSchema) {
  const known = validators.get(schema)
  if (known) return known
  const made = Compile(schema)
  validators.set(schema, made)
  return made
}
