import type { NatsConnection } from 'nats'
import type { Bus } from './connection.ts'
import { realtimeSubjectOf } from './subjects.ts'

export { connectBus, type Bus } from './connection.ts'

/**
 * Sends a realtime signal to all gateways: a wake-up signal or an ephemeral message. It is never stored, and it is lost
 * while NATS is unavailable, so nothing may depend on its arrival.
 */
export function publishSignal (bus: Bus, signal: unknown) {
  bus.current()?.publish(realtimeSubjectOf(bus.service), JSON.stringify(signal))
}

/** Receives the realtime signals of all services until the bus closes. `handle` gets the name of the publisher. */
export function subscribeToSignals (bus: Bus, handle: (publisher: string, signal: unknown) => void) {
  let subscribedOn: NatsConnection | undefined
  bus.onConnect((connection) => {
    // Subscriptions survive a reconnect.
    if (subscribedOn === connection) return
    subscribedOn = connection
    connection.subscribe(realtimeSubjectOf('*'), {
      callback (error, message) {
        // connection.ts logs permission errors.
        if (error) return
        try {
          handle(message.subject.split('.').at(-1) ?? '', JSON.parse(message.string()))
        } catch (thrown) {
          bus.log.error({ err: thrown }, 'a realtime signal could not be handled')
        }
      }
    })
  })
}
