import { setTimeout as sleep } from 'node:timers/promises'
import { DiscardPolicy, RetentionPolicy, StorageType, nanos, type JetStreamManager, type StreamInfo } from 'nats'
import type { Bus } from './connection.ts'
import { MAX_MESSAGE_BYTES } from './envelope.ts'
import { markUnavailable, measureStream } from './stream-metrics.ts'
import { throttleLog } from './throttle-log.ts'
import { isMissing } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'

/** The number of replicas of each new stream in a NATS cluster. */
export interface StreamOptions {
  replicas?: number
}

export interface StreamManager {
  stop(): Promise<void>
}

/** Its user on NATS. */
export const STREAM_MANAGER_USER = 'streams'

const CHECK_INTERVAL_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Creates the stream of each of `services` whenever it is missing, until stopped. The services have no right to do so:
 * the creator of a stream chooses which subjects it captures and republishes, and NATS cannot restrict that. A stream
 * that an operator has changed stays as it is. When NATS has lost everything, the streams are back within a second and
 * the relays publish their events again.
 */
export function startStreamManager (bus: Bus, services: string[], { replicas = 1 }: StreamOptions = {}): StreamManager {
  const stopping = new AbortController()
  const warn = throttleLog((error) => bus.log.warn({ err: error }, 'a stream could not be checked; retrying'))

  async function ensureStream (service: string) {
    const connection = bus.current()
    if (!connection) return markUnavailable(streamOf(service))
    const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
    try {
      const stream = await manager.streams.info(streamOf(service))
      measureStream(stream, replicas)
      await purgeConsumed(manager, stream)
    } catch (error) {
      markUnavailable(streamOf(service))
      if (!isMissing(error)) throw error
      await createStream(manager, service, replicas)
      bus.log.info({ stream: streamOf(service) }, 'created a stream')
    }
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.all(services.map(async (service) => await ensureStream(service).catch(warn)))
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()

  return {
    async stop () {
      stopping.abort()
      await running
    }
  }
}

/** A full stream rejects new messages: they wait in the outbox, and no message is discarded before it is consumed. */
async function createStream (manager: JetStreamManager, service: string, replicas: number) {
  await manager.streams.add({
    name: streamOf(service),
    subjects: [subjectOf(`${service}.>`)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(7 * DAY_MS),
    max_bytes: 256 * 1024 ** 2,
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
