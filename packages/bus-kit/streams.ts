import type { NatsConnection } from 'nats'
import { Degraded, type HealthChecks } from '@tandem/process-kit'
import type { Bus } from './connection.ts'
import { streamOf } from './subjects.ts'

/**
 * Identifies a stream and its end. A stream that lost everything was created later; one that lost its end has a lower
 * last sequence.
 */
export interface StreamState {
  createdAt: string
  lastSeq: number
}

const STREAM_NOT_FOUND = 10059

/** @throws while the service's stream is missing: a service has no right to create it (stream-manager.ts) */
export async function readStream (connection: NatsConnection, service: string): Promise<StreamState> {
  const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
  const { created, state } = await manager.streams.info(streamOf(service))
  return { createdAt: created, lastSeq: state.last_seq }
}

/**
 * The health check of the service's stream. It is required until the stream was found once: a system without it would
 * start, and keep every event back. Later its loss is an outage of NATS, in which the service goes on.
 */
export function checkStream (bus: Bus): HealthChecks {
  const stream = streamOf(bus.service)
  let wasFound = false
  return {
    [stream]: {
      async check () {
        const connection = bus.current()
        // That is another check.
        if (!connection) return
        try {
          await readStream(connection, bus.service)
        } catch (error) {
          throw new Degraded(`NATS has no usable stream ${stream}, so events wait (${String(error)})`)
        }
        wasFound = true
      },
      get required() {
        return !wasFound
      }
    }
  }
}

/**
 * How many events of `publisher` the service has not yet acknowledged, and up to which it has acknowledged all.
 * @throws while the broker or the consumer is missing
 */
export async function readConsumer (connection: NatsConnection | undefined, service: string, publisher: string) {
  if (!connection) throw new Error('NATS is unavailable')
  const manager = await connection.jetstreamManager({ timeout: 1_000, checkAPI: false })
  const { num_pending, num_ack_pending, ack_floor } = await manager.consumers.info(streamOf(publisher), service)
  return { waiting: num_pending + num_ack_pending, acknowledgedSeq: ack_floor.stream_seq }
}

/** Whether NATS reports that a stream or consumer does not exist. */
export function isMissing (error: unknown) {
  return apiError(error)?.code === 404
}

export const isStreamMissing = (error: unknown) => apiError(error)?.err_code === STREAM_NOT_FOUND

/** JetStream's own error, if it was JetStream that failed the request. */
export function apiError (error: unknown) {
  return error instanceof Error && 'api_error' in error
    ? error.api_error as { code?: number, err_code?: number } | undefined
    : undefined
}
