import type { Kysely } from 'kysely'
import { toEnvelope, parseEnvelope } from './envelope.ts'
import type { Handler } from './handlers.ts'
import type { OutboxTables } from './outbox.ts'

/** What was said so far, oldest first. */
export async function recordedEvents (db: Kysely<OutboxTables>) {
  return await db.selectFrom('outbox').select(['id', 'type', 'aggregate', 'data']).orderBy('seq').execute()
}

/** Lets handlers hear an event as they would from the broker, without one. */
export async function hear (handlers: Handler[], type: string, data: unknown, { id = crypto.randomUUID(), about = 'test' } = {}) {
  const envelope = parseEnvelope(toEnvelope('test', { id, type, aggregate: about, data, occurred_at: new Date() }))
  for (const handler of handlers) if (handler.event.type === type) await handler.hear(envelope)
}
