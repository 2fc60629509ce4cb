import { Readable, type Writable } from 'node:stream'
import type { Frame } from '@tandem/contracts/realtime'
import type { WebSocket } from 'ws'

/** What brings frames to a client: a WebSocket, or the body of a response with server-sent events. */
export type Transport = WebSocket | Readable

/** Whether it goes one way only, so that no pong comes back. */
export const isStream = (transport: Transport) => transport instanceof Readable

// How long a client may take to read the end of a stream. The server of WebSockets has the same.
export const CLOSE_TIMEOUT_MS = 5_000

/** A stream of server-sent events, the body of `response`. It is closed when the response is sent or broken. */
export function createEventStream (response: Writable, onClose: () => void): Readable {
  const stream = new Readable({
    read () {},
    // At its end the client may still have to read what the response buffers.
    autoDestroy: false,
    destroy (error, done) {
      response.destroy()
      done(error)
    }
  })
  response.once('close', () => stream.destroy())
  return stream.on('error', () => {}).on('close', onClose)
}

function writeEvent (stream: Readable, frame: Frame, id = frame.id) {
  if (stream.destroyed) return
  stream.push(`event: ${frame.type}\n${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(frame)}\n\n`)
}

export function sendFrame (transport: Transport, frame: Frame) {
  if (!isStream(transport)) return transport.send(JSON.stringify(frame))
  // A browser sends the last id when it connects again, so a stream without any frame needs one as well.
  writeEvent(transport, frame, frame.type === 'hello' ? (frame.data as { position: string }).position : frame.id)
}

/** Returns how many bytes the client has not read yet. */
export const unsentBytes = (transport: Transport) =>
  isStream(transport) ? transport.readableLength : transport.bufferedAmount

/** Closes it in order. */
export function closeTransport (transport: Transport, code: number, reason: string) {
  if (!isStream(transport)) return transport.close(code, reason)
  writeEvent(transport, {
    type: 'error',
    at: new Date().toISOString(),
    data: { code: String(code), error: reason }
  })
  transport.push(null)
  // A client that reads nothing would hold it for ever, and more of them than may be open.
  setTimeout(() => transport.destroy(), CLOSE_TIMEOUT_MS).unref()
}

/** Ends it at once. */
export function terminateTransport (transport: Transport) {
  if (isStream(transport)) transport.destroy()
  else transport.terminate()
}
