import { connectBus, startStreamManager, STREAM_MANAGER_USER, type Bus, type StreamOptions } from '@tandem/bus-kit'

/**
 * Looks after the streams of `services` from this process, in the place of the container that does. Returns what ends
 * it.
 * @param url as the user `streams`
 */
export function connectStreamManager (url: string, services: string[], log: Bus['log'], options?: StreamOptions) {
  const bus = connectBus(url, { service: STREAM_MANAGER_USER, log })
  const keeper = startStreamManager(bus, services, options)
  return async () => {
    await keeper.stop()
    await bus.close()
  }
}
