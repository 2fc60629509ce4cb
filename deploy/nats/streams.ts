import { connectBus, keepStreams, STREAM_KEEPER, type Bus } from '@tandem/bus-kit'

/**
 * Looks after the streams of `services` from this process, in the place of the container that does. Returns what ends it.
 * @param url as the user `streams`
 */
export function startStreamKeeper (url: string, services: string[], log: Bus['log']) {
  const bus = connectBus(url, { service: STREAM_KEEPER, log })
  const keeper = keepStreams(bus, services)
  return async () => {
    await keeper.stop()
    await bus.close()
  }
}
