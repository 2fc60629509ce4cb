import type { Kysely } from 'kysely'
import { toEnvelope, parseEnvelope } from './envelope.ts'
import type { Handler } from './handlers.ts'
import type { OutboxTables } from './outbox.ts'

/** What was said so far, oldest first. */
export async function recordedEvents (db: Kysely<OutboxTables>) {
  return await db.selectFrom('outbox').select(['id', 'type', 'subject', 'data']).orderBy('seq').execute()
}

let received = 0

/** Lets handlers hear an event as they would from the broker, without one. `at` is when it happened, and puts it in its place among the others; of one moment, each comes after those before. */
export async function deliver (
  handlers: Handler[], type: string, data: unknown, { id = crypto.randomUUID(), subject = 'test', at = new Date(), sequence = at.getTime() * 1_000 + received++ % 1_000 }: { id?: string, subject?: string, at?: Date, sequence?: number } = {}
) {
  const envelope = parseEnvelope(toEnvelope('test', { id, seq: sequence, type, subject: subject, data, occurred_at: at }))
  for (const handler of handlers) if (handler.event.type === type) await handler.handle(envelope)
}
