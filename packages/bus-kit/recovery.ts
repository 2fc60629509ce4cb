import type { NatsConnection } from 'nats'

/**
 * Deletes the consumers of a service, so that it consumes everything again that is still in the streams. The service must
 * not run. Returns the names of the streams.
 */
export async function deleteConsumers (connection: NatsConnection, service: string) {
  const manager = await connection.jetstreamManager()
  const deleted: string[] = []
  for await (const { config } of manager.streams.list()) {
    for await (const { name } of manager.consumers.list(config.name)) {
      if (name !== service) continue
      await manager.consumers.delete(config.name, name)
      deleted.push(config.name)
    }
  }
  return deleted
}

/** Deletes the streams of all services. The relays notice, and publish the last 72 hours again. */
export async function deleteStreams (connection: NatsConnection) {
  const manager = await connection.jetstreamManager()
  const deleted: string[] = []
  for await (const { config } of manager.streams.list()) {
    await manager.streams.delete(config.name)
    deleted.push(config.name)
  }
  return deleted
}
