import {
  DiscardPolicy, RetentionPolicy, StorageType, nanos,
  type JetStreamManager, type NatsConnection, type StreamInfo
} from 'nats'

/** One stream for each service that says something, so that a team deploys, sizes and wipes its own. */
export const streamOf = (service: string) => `EVENTS_${service.toUpperCase()}`

export const subjectOf = (type: string) => `evt.${type}`

/** Which stream this is, and how far it goes: a stream that lost everything was made later, one that lost its end goes less far. */
export interface StreamState { madeAt: string, lastSeq: number }

const DAY = 24 * 60 * 60 * 1_000
const NO_STREAM = 10059

/**
 * Makes the service's own stream unless it stands; one that an operator has changed stays as he left it.
 * A full stream refuses new messages: they wait in the outbox rather than push out what nobody has heard yet.
 */
export async function ensureStream (connection: NatsConnection, service: string): Promise<StreamState> {
  const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
  const stream = await findOrMake(manager, service)
  await makeRoom(manager, stream)
  return { madeAt: stream.created, lastSeq: stream.state.last_seq }
}

async function findOrMake (manager: JetStreamManager, service: string) {
  const name = streamOf(service)
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return await manager.streams.add({
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
}

/** Of a stream that is half full, what every consumer has acknowledged goes: else it would fill, and then nothing be said for days. */
async function makeRoom (manager: JetStreamManager, { config, state }: StreamInfo) {
  if (config.max_bytes <= 0 || state.bytes < config.max_bytes / 2) return
  let heard = Infinity
  for await (const { ack_floor } of manager.consumers.list(config.name)) heard = Math.min(heard, ack_floor.stream_seq)
  if (heard < Infinity && heard >= state.first_seq) await manager.streams.purge(config.name, { seq: heard + 1 })
}

/** Whether NATS says that a stream or consumer is not there. */
export function isMissing (error: unknown) {
  return apiError(error)?.code === 404
}

export const isStreamMissing = (error: unknown) => apiError(error)?.err_code === NO_STREAM

/** What JetStream said was wrong, if it was JetStream that refused. */
export function apiError (error: unknown) {
  return error instanceof Error && 'api_error' in error ? error.api_error as { code?: number, err_code?: number } | undefined : undefined
}
