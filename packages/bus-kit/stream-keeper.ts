import { setTimeout as sleep } from 'node:timers/promises'
import { DiscardPolicy, RetentionPolicy, StorageType, nanos, type JetStreamManager, type StreamInfo } from 'nats'
import type { Bus } from './connection.ts'
import { MAX_MESSAGE_BYTES } from './envelope.ts'
import { throttleLog } from './throttle-log.ts'
import { isMissing } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'

/** Copies a cluster keeps of each new stream. */
export interface StreamOptions { replicas?: number }

export interface StreamManager { stop (): Promise<void> }

/** The name it has on NATS. */
export const STREAM_MANAGER_USER = 'streams'

const LOOK_EVERY = 1_000
const DAY = 24 * 60 * 60 * 1_000

/**
 * Makes the stream of each of `services` whenever it is missing, until stopped. The services may not: who makes a stream says which
 * subjects it takes and where it repeats them, and NATS cannot check that. A stream that an operator has changed stays as it is.
 * When NATS lost everything, streams are back within a second, and the relays publish again what was in them.
 */
export function startStreamManager (bus: Bus, services: string[], { replicas = 1 }: StreamOptions = {}): StreamManager {
  const stopping = new AbortController()
  const warn = throttleLog((error) => bus.log.warn({ err: error }, 'a stream could not be looked after; trying on'))

  async function lookAfter (service: string) {
    const connection = bus.current()
    if (!connection) return
    const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
    try {
      await makeRoom(manager, await manager.streams.info(streamOf(service)))
    } catch (error) {
      if (!isMissing(error)) throw error
      await makeStream(manager, service, replicas)
      bus.log.info({ stream: streamOf(service) }, 'made a stream')
    }
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.all(services.map(async (service) => await lookAfter(service).catch(warn)))
      await sleep(LOOK_EVERY, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()

  return {
    async stop () {
      stopping.abort()
      await running
    }
  }
}

/** A full stream refuses new messages: they wait in the outbox rather than push out what nobody has heard yet. */
async function makeStream (manager: JetStreamManager, service: string, replicas: number) {
  await manager.streams.add({
    name: streamOf(service),
    subjects: [subjectOf(`${service}.>`)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(7 * DAY),
    max_bytes: 256 * 1024 ** 2,
    max_msg_size: MAX_MESSAGE_BYTES,
    duplicate_window: nanos(10 * 60 * 1_000),
    num_replicas: replicas,
    deny_delete: true
  })
}

/** Of a stream that is half full, what every consumer has acknowledged goes: else it would fill, and then nothing be said for days. */
async function makeRoom (manager: JetStreamManager, { config, state }: StreamInfo) {
  if (config.max_bytes <= 0 || state.bytes < config.max_bytes / 2) return
  let received = Infinity
  for await (const { ack_floor } of manager.consumers.list(config.name)) received = Math.min(received, ack_floor.stream_seq)
  if (received < Infinity && received >= state.first_seq) await manager.streams.purge(config.name, { seq: received + 1 })
}
