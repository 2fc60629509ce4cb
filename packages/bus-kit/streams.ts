import { DiscardPolicy, RetentionPolicy, StorageType, nanos, type NatsConnection } from 'nats'

/** One stream for each service that says something, so that a team deploys, sizes and wipes its own. */
export const streamOf = (service: string) => `EVENTS_${service.toUpperCase()}`

export const subjectOf = (type: string) => `evt.${type}`

const DAY = 24 * 60 * 60 * 1_000

/**
 * Makes a service's stream unless it stands; one that an operator has changed stays as he left it.
 * A full stream refuses new messages: they wait in the outbox rather than push out what nobody has heard yet.
 * @returns the position of the stream's last message
 */
export async function ensureStream (connection: NatsConnection, service: string) {
  const manager = await connection.jetstreamManager({ timeout: 2_000 })
  const name = streamOf(service)
  try {
    return (await manager.streams.info(name)).state.last_seq
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const made = await manager.streams.add({
    name,
    subjects: [subjectOf(`${service}.>`)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(7 * DAY),
    max_bytes: 256 * 1024 ** 2,
    max_msg_size: 64 * 1024,
    duplicate_window: nanos(10 * 60 * 1_000),
    deny_delete: true
  })
  return made.state.last_seq
}

/** Whether NATS says that a stream or consumer is not there. */
export function isMissing (error: unknown) {
  return error instanceof Error && 'api_error' in error && (error.api_error as { code?: number }).code === 404
}
