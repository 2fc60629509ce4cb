import type { NatsConnection } from 'nats'
import { streamOf } from './subjects.ts'

/** Which stream this is, and how far it goes: a stream that lost everything was made later, one that lost its end goes less far. */
export interface StreamState { madeAt: string, lastSeq: number }

const NO_STREAM = 10059

/** @throws while the service's stream is missing: a service may not make one (stream-keeper.ts) */
export async function readStream (connection: NatsConnection, service: string): Promise<StreamState> {
  const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
  const { created, state } = await manager.streams.info(streamOf(service))
  return { madeAt: created, lastSeq: state.last_seq }
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
