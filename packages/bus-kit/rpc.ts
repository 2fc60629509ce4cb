import { randomUUID } from 'node:crypto'
import { SpanKind } from '@opentelemetry/api'
import { headers, type Msg, type NatsConnection, type Subscription } from 'nats'
import createError from '@fastify/error'
import type Type from 'typebox'
import type { RpcDefinition } from '@tandem/contracts'
import type { Bus } from './connection.ts'
import { throttleLog } from './throttle-log.ts'
import { describeErrors, validatorOf } from './validators.ts'
import { answersOf, rpcSubjectOf } from './subjects.ts'
import { continueTrace, currentTrace } from './tracing.ts'

const DEADLINE = 800

/** The one who was asked is away, too slow, or talks otherwise than agreed. */
export const Unavailable = createError('SERVICE_UNAVAILABLE', 'A part of the service is away; please try again', 503)

// Happens whenever a service starts or is busy; a stack would tell nothing more.
const expected = new Map<string | undefined, string>([['503', 'nobody is there to answer'], ['TIMEOUT', 'too late']])

export type CallRpc = <Request extends Type.TSchema, Answer extends Type.TSchema>(
  question: RpcDefinition<Request, Answer>, request: Type.Static<Request>, options?: { deadline?: number }
) => Promise<Type.Static<Answer>>

/** Gives a function that asks other services over `bus`. @throws Unavailable after the deadline, 800 ms unless told. */
export function createRpcClient (bus: Bus): CallRpc {
  return async (question, request, { deadline = DEADLINE } = {}) => {
    const connection = bus.current()
    if (!connection) throw new Unavailable()

    const carried = headers()
    const traceparent = currentTrace()
    if (traceparent) carried.set('traceparent', traceparent)
    try {
      const reply = await connection.request(rpcSubjectOf(question.type, bus.service), JSON.stringify(request), {
        timeout: deadline, headers: carried, noMux: true, reply: `${answersOf(bus.service, question.service)}.${randomUUID()}`
      })
      if (reply.headers?.get('failed')) throw new Error('whoever was asked could not answer')
      const answer: unknown = JSON.parse(reply.string())
      if (validatorOf(question.answer).Check(answer)) return answer as Type.Static<typeof question.answer>
      throw new Error(`the answer has another shape: ${describeErrors(question.answer, answer)}`)
    } catch (error) {
      const reason = expected.get((error as { code?: string }).code)
      bus.log.warn({ question: question.type, ...(reason ? { reason } : { err: error }) }, 'a question got no answer')
      throw new Unavailable()
    }
  }
}

export interface RpcHandler {
  readonly question: RpcDefinition
  readonly answer: (request: unknown) => Promise<unknown>
}

/** Answers a question; `reply` must read only, for whoever asks may ask twice. */
export function handleRpc<Request extends Type.TSchema, Answer extends Type.TSchema> (
  question: RpcDefinition<Request, Answer>, reply: (request: Type.Static<Request>) => Promise<Type.Static<Answer>>
): RpcHandler {
  return {
    question,
    async answer (request) {
      if (!validatorOf(question.request).Check(request)) throw new Error(`a request has another shape: ${describeErrors(question.request, request)}`)
      return await reply(request as Type.Static<Request>)
    }
  }
}

/** Answers questions until the bus closes, which waits for those that are being answered. Replicas share them. */
export function startRpcHandlers (bus: Bus, answerers: RpcHandler[]) {
  const running = new Set<Promise<void>>()
  const warn = throttleLog((error) => bus.log.warn({}, String(error)))
  let listening: Subscription[] = []
  let told: NatsConnection | undefined

  bus.onConnect((connection) => {
    // Subscriptions outlive a reconnect.
    if (told === connection) return
    told = connection
    listening = answerers.map((answerer) => connection.subscribe(rpcSubjectOf(answerer.question.type, '*'), {
      queue: bus.service,
      callback (error, message) {
        // What the server does not permit is told once by the connection.
        if (error) return
        const caller = message.subject.split('.').at(-1) ?? ''
        // An answer is published with this service's rights. Sent to where the caller likes, it could pass for one of its events.
        if (!message.reply?.startsWith(`${answersOf(caller, bus.service)}.`)) {
          return warn(`${caller} wants the answer to ${answerer.question.type} where no answer belongs`)
        }
        const answered = respond(bus, answerer, message).finally(() => running.delete(answered))
        running.add(answered)
      }
    }))
  })
  bus.onClose(async () => {
    await Promise.allSettled(listening.map((each) => each.drain()))
    await Promise.all(running)
  })
}

async function respond (bus: Bus, { question, answer }: RpcHandler, message: Msg) {
  const carried = headers()
  try {
    const reply = await continueTrace(message.headers?.get('traceparent'), `answer ${question.type}`, SpanKind.SERVER,
      async () => await answer(JSON.parse(message.string())))
    message.respond(JSON.stringify(reply))
  } catch (error) {
    bus.log.error({ err: error, question: question.type }, 'a question could not be answered')
    carried.set('failed', 'true')
    message.respond('', { headers: carried })
  }
}
