import WebSocket from 'ws'
import { deviceEvents } from './events.ts'

const sockets = new Map<number, WebSocket>()

/** The WebSockets of the phone. */
export default {
  connect (url: string, protocols: string[] | null, _options: object, id: number) {
    const socket = new WebSocket(url, protocols ?? [])
    sockets.set(id, socket)
    socket.on('open', () => deviceEvents.emit('websocketOpen', { id, protocol: socket.protocol }))
    socket.on(
      'message',
      (data: Buffer) => deviceEvents.emit('websocketMessage', { id, type: 'text', data: data.toString() })
    )
    socket.on('close', (code) => deviceEvents.emit('websocketClosed', { id, code, reason: '' }))
    socket.on('error', ({ message }) => deviceEvents.emit('websocketFailed', { id, message }))
  },
  send: (text: string, id: number) => sockets.get(id)?.send(text),
  close: (code: number, reason: string, id: number) => sockets.get(id)?.close(code, reason)
}
