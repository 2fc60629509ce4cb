import type { Kysely } from 'kysely'
import { toEnvelope, parseEnvelope } from './envelope.ts'
import type { Handler } from './handlers.ts'
import type { OutboxTables } from './outbox.ts'

/** What was said so far, oldest first. */
export async function recordedEvents (db: Kysely<OutboxTables>) {
  return await db.selectFrom('outbox').select(['id', 'type', 'aggregate', 'data']).orderBy('seq').execute()
}

/** Lets handlers hear an event as they would from the broker, without one. `at` is when it happened. */
export async function hear (
  handlers: Handler[], type: string, data: unknown, { id = crypto.randomUUID(), about = 'test', at = new Date() }: { id?: string, about?: string, at?: Date } = {}
) {
  const envelope = parseEnvelope(toEnvelope('test', { id, type, aggregate: about, data, occurred_at: at }))
  for (const handler of handlers) if (handler.event.type === type) await handler.hear(envelope)
}
