import type { Kysely } from 'kysely'
import { toEnvelope, parseEnvelope } from './envelope.ts'
import type { Handler } from './handlers.ts'
import type { OutboxTables } from './outbox.ts'

/** What was said so far, oldest first. */
export async function recordedEvents (db: Kysely<OutboxTables>) {
  return await db.selectFrom('outbox').select(['id', 'type', 'aggregate', 'data']).orderBy('seq').execute()
}

let heard = 0

/** Lets handlers hear an event as they would from the broker, without one. `at` is when it happened, and puts it in its place among the others; of one moment, each comes after those before. */
export async function hear (
  handlers: Handler[], type: string, data: unknown, { id = crypto.randomUUID(), about = 'test', at = new Date(), sequence = at.getTime() * 1_000 + heard++ % 1_000 }: { id?: string, about?: string, at?: Date, sequence?: number } = {}
) {
  const envelope = parseEnvelope(toEnvelope('test', { id, seq: sequence, type, aggregate: about, data, occurred_at: at }))
  for (const handler of handlers) if (handler.event.type === type) await handler.hear(envelope)
}
