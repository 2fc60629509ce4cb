import { EventEmitter } from 'node:events'

/** What the native modules of the phone send to React Native. */
export const deviceEvents = new EventEmitter().setMaxListeners(0)

export default class NativeEventEmitter {
  addListener (type: string, listener: (event: unknown) => void) {
    deviceEvents.on(type, listener)
    return { remove: () => deviceEvents.off(type, listener) }
  }
}
