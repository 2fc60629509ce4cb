import { randomUUID } from 'node:crypto'
import { SpanKind } from '@opentelemetry/api'
import { headers, type Msg, type NatsConnection, type Subscription } from 'nats'
import type Type from 'typebox'
import type { RpcDefinition } from '@tandem/contracts'
import { continueCorrelation, currentCorrelation, Unavailable, throttleLog } from '@tandem/process-kit'
import type { Bus } from './connection.ts'
import { correlationOf, toHeaders } from './message-headers.ts'
import { describeErrors, validatorOf } from './validators.ts'
import { replyPrefixOf, rpcSubjectOf } from './subjects.ts'

const DEFAULT_TIMEOUT_MS = 2_000

// These happen whenever a service starts or is busy; a stack trace would add nothing.
const reasons = new Map<string | undefined, string>([['503', 'no replica is listening'], ['TIMEOUT', 'timed out']])

// NoInfer, here and where else a parameter has the type of a schema: to infer the schema from it, tsc compares all kinds of
// schemas with each other, which takes a second and 100 MB.
export type CallRpc = <Request extends Type.TSchema, Response extends Type.TSchema>(
  rpc: RpcDefinition<Request, Response>,
  request: NoInfer<Type.Static<Request>>,
  options?: { timeoutMs?: number }
) => Promise<NoInfer<Type.Static<Response>>>

/**
 * Returns a function that calls other services over `bus`.
 * @throws Unavailable if the called service is down, its response does not match the contract, or it takes longer than
 * the timeout, 2 s by default
 */
export function createRpcClient (bus: Bus): CallRpc {
  return async (rpc, request, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}) => {
    const connection = bus.current()
    if (!connection) throw new Unavailable()

    try {
      const reply = await connection.request(rpcSubjectOf(rpc.type, bus.service), JSON.stringify(request), {
        timeout: timeoutMs,
        headers: toHeaders(currentCorrelation()),
        noMux: true,
        reply: `${replyPrefixOf(bus.service, rpc.service)}.${randomUUID()}`
      })
      if (reply.headers?.get('failed')) throw new Error('the handler failed')
      const response: unknown = JSON.parse(reply.string())
      if (validatorOf(rpc.response).Check(response)) return response as Type.Static<typeof rpc.response>
      throw new Error(`the response does not match its schema: ${describeErrors(rpc.response, response)}`)
    } catch (error) {
      const reason = reasons.get((error as { code?: string }).code)
      bus.log.warn({ rpc: rpc.type, ...(reason ? { reason } : { err: error }) }, 'an RPC failed')
      throw new Unavailable()
    }
  }
}

export interface RpcHandler {
  readonly rpc: RpcDefinition
  readonly handle: (request: unknown) => Promise<unknown>
}

/** Provides an RPC. `respond` must only read, because a caller may repeat its call. */
export function handleRpc<Request extends Type.TSchema, Response extends Type.TSchema> (
  rpc: RpcDefinition<Request, Response>,
  respond: (request: NoInfer<Type.Static<Request>>) => Promise<NoInfer<Type.Static<Response>>>
): RpcHandler {
  return {
    rpc,
    async handle (request) {
      if (!validatorOf(rpc.request).Check(request)) {
        throw new Error(`the request does not match its schema: ${describeErrors(rpc.request, request)}`)
      }
      return await respond(request as Type.Static<Request>)
    }
  }
}

/** Handles RPCs until the bus closes; closing waits for running handlers. Replicas share the calls. */
export function startRpcHandlers (bus: Bus, rpcHandlers: RpcHandler[]) {
  const running = new Set<Promise<void>>()
  const warn = throttleLog((error) => bus.log.warn({}, String(error)))
  let subscriptions: Subscription[] = []
  let subscribedOn: NatsConnection | undefined

  bus.onConnect((connection) => {
    // Subscriptions survive a reconnect.
    if (subscribedOn === connection) return
    subscribedOn = connection
    subscriptions = rpcHandlers.map((rpcHandler) =>
      connection.subscribe(rpcSubjectOf(rpcHandler.rpc.type, '*'), {
        queue: bus.service,
        callback (error, message) {
          // connection.ts logs permission errors.
          if (error) return
          const caller = message.subject.split('.').at(-1) ?? ''
          // The reply is published with this service's rights. Sent to a subject of the caller's choice, it could pass
          // for one of this service's events.
          if (!message.reply?.startsWith(`${replyPrefixOf(caller, bus.service)}.`)) {
            return warn(
              `${caller} called ${rpcHandler.rpc.type} with a reply subject that is not its own; the call is ignored`
            )
          }
          const replied = reply(bus, rpcHandler, message).finally(() => running.delete(replied))
          running.add(replied)
        }
      })
    )
  })
  bus.onClose(async () => {
    await Promise.allSettled(subscriptions.map((each) => each.drain()))
    await Promise.all(running)
  })
}

async function reply (bus: Bus, { rpc, handle }: RpcHandler, message: Msg) {
  const messageHeaders = headers()
  try {
    const response = await continueCorrelation(
      correlationOf(message.headers),
      `handle ${rpc.type}`,
      SpanKind.SERVER,
      async () => await handle(JSON.parse(message.string()))
    )
    message.respond(JSON.stringify(response))
  } catch (error) {
    bus.log.error({ err: error, rpc: rpc.type }, 'an RPC handler failed')
    messageHeaders.set('failed', 'true')
    message.respond('', { headers: messageHeaders })
  }
}
