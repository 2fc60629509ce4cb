import { Unavailable } from '@tandem/process-kit'
import type { Kysely } from 'kysely'
import { toEnvelope, parseEnvelope } from './envelope.ts'
import type { Handler } from './handlers.ts'
import type { OutboxTables } from './outbox.ts'
import type { CallRpc, RpcHandler } from './rpc.ts'

/** The events written to the outbox so far, oldest first. */
export async function recordedEvents (db: Kysely<OutboxTables>) {
  return await db.selectFrom('outbox').select(['id', 'type', 'subject', 'data']).orderBy('seq').execute()
}

let delivered = 0

/**
 * Calls handlers with an event as the broker would deliver it, without a broker. `at` is when it happened and sets its
 * sequence; of two events at the same moment, the later call has the higher sequence.
 */
export async function deliver (
  handlers: Handler[],
  type: string,
  data: unknown,
  {
    id = crypto.randomUUID(),
    subject = 'test',
    at = new Date(),
    sequence = at.getTime() * 1_000 + delivered++ % 1_000
  }: { id?: string, subject?: string, at?: Date, sequence?: number } = {}
) {
  const envelope = parseEnvelope(toEnvelope('test', { id, seq: sequence, type, subject, data, occurred_at: at }))
  for (const handler of handlers) if (handler.event.type === type) await handler.handle(envelope)
}

/**
 * Creates the `callRpc` of a test, in which `providers` stand for the other services: `handleRpc(Person, async () => …)`.
 * A call that none of them provides throws Unavailable, and so does every call while `isUnavailable` returns true.
 */
export function fakeRpc (providers: RpcHandler[], isUnavailable = () => false): CallRpc {
  return async (rpc, request) => {
    const provider = providers.find((each) => each.rpc.type === rpc.type)
    if (!provider || isUnavailable()) throw new Unavailable()
    // `handleRpc` has checked the type of the response.
    return await provider.handle(request) as never
  }
}
