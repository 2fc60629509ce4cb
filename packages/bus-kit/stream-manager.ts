import { DiscardPolicy, RetentionPolicy, StorageType, nanos, type JetStreamManager, type StreamInfo } from 'nats'
import { createAlarm, throttleLog } from '@tandem/process-kit'
import type { Bus } from './connection.ts'
import { MAX_MESSAGE_BYTES } from './envelope.ts'
import { markUnavailable, measureStream } from './stream-metrics.ts'
import { isMissing } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'

/** What a stream is created with. */
export interface StreamOptions {
  /** Its copies in a NATS cluster. */
  replicas?: number
  /** The size that NATS reserves for it on its disk, and at which it rejects events. */
  maxMib?: number
}

export interface StreamManager {
  stop(): Promise<void>
}

/** Its user on NATS. */
export const STREAM_MANAGER_USER = 'streams'

const CHECK_INTERVAL_MS = 5_000
// While a stream grows, is missing or cannot be checked.
const ACTIVE_CHECK_INTERVAL_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Creates the stream of each of `services` whenever it is missing, until stopped. The services have no right to do so:
 * the creator of a stream chooses which subjects it captures and republishes, and NATS cannot restrict that. A stream
 * that an operator has changed stays as it is. When NATS returns without anything, the streams are back at once and the
 * relays publish their events again.
 */
export function startStreamManager (
  bus: Bus,
  services: string[],
  { replicas = 1, maxMib = 256 }: StreamOptions = {}
): StreamManager {
  const stopping = new AbortController()
  const alarm = createAlarm()
  const stopListening = bus.onConnect(alarm.ring)
  const lastSeqs = new Map<string, number>()
  const warn = throttleLog((error) => bus.log.warn({ err: error }, 'a stream could not be checked; retrying'))

  /** Whether the stream has grown since the last call. */
  function hasGrown ({ config, state }: StreamInfo) {
    const before = lastSeqs.get(config.name)
    lastSeqs.set(config.name, state.last_seq)
    return before !== state.last_seq
  }

  /** @returns whether to check it again soon. A connection rings. */
  async function ensureStream (service: string) {
    const connection = bus.current()
    if (!connection) {
      markUnavailable(streamOf(service))
      return false
    }
    const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
    try {
      const stream = await manager.streams.info(streamOf(service))
      measureStream(stream, replicas)
      await purgeConsumed(manager, stream)
      return hasGrown(stream)
    } catch (error) {
      markUnavailable(streamOf(service))
      if (!isMissing(error)) throw error
      await createStream(manager, service, { replicas, maxMib })
      bus.log.info({ stream: streamOf(service) }, 'created a stream')
      return true
    }
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const areActive = await Promise.all(
        services.map(async (service) =>
          await ensureStream(service).catch((error: unknown) => {
            warn(error)
            return true
          })
        )
      )
      const pauseMs = areActive.includes(true) ? ACTIVE_CHECK_INTERVAL_MS : CHECK_INTERVAL_MS
      await alarm.wait(pauseMs, stopping.signal)
    }
  })()

  return {
    async stop () {
      stopping.abort()
      stopListening()
      await running
    }
  }
}

/** A full stream rejects new messages: they wait in the outbox, and no message is discarded before it is consumed. */
async function createStream (
  manager: JetStreamManager,
  service: string,
  { replicas, maxMib }: Required<StreamOptions>
) {
  await manager.streams.add({
    name: streamOf(service),
    subjects: [subjectOf(`${service}.>`)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(7 * DAY_MS),
    max_bytes: maxMib * 1024 ** 2,
    max_msg_size: MAX_MESSAGE_BYTES,
    duplicate_window: nanos(10 * 60 * 1_000),
    num_replicas: replicas,
    deny_delete: true
  })
}

/**
 * Purges what every consumer has acknowledged from a stream that is half full. Otherwise it would fill up, and events
 * would wait for days.
 */
async function purgeConsumed (manager: JetStreamManager, { config, state }: StreamInfo) {
  if (config.max_bytes <= 0 || state.bytes < config.max_bytes / 2) return
  let consumedSeq = Infinity
  for await (const { ack_floor } of manager.consumers.list(config.name)) {
    consumedSeq = Math.min(consumedSeq, ack_floor.stream_seq)
  }
  if (consumedSeq < Infinity && consumedSeq >= state.first_seq) {
    await manager.streams.purge(config.name, { seq: consumedSeq + 1 })
  }
}
