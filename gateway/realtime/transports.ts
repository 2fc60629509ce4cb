import { Readable } from 'node:stream'
import type { Frame } from '@tandem/contracts/realtime'
import type { WebSocket } from 'ws'

/** One open connection to a client. An object without functions of its own, as there are many of them. */
export type Transport = { kind: 'websocket', socket: WebSocket } | { kind: 'sse', stream: Readable }

/** A stream of server-sent events, the body of a response. */
export function createEventStream (onClose: () => void): Readable {
  const stream = new Readable({ read () {} })
  stream.on('error', () => {})
  stream.on('close', onClose)
  return stream
}

function writeEvent (stream: Readable, frame: Frame, id = frame.id) {
  if (stream.destroyed) return
  stream.push(`event: ${frame.type}\n${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(frame)}\n\n`)
}

export function sendFrame (transport: Transport, frame: Frame) {
  if (transport.kind === 'websocket') return transport.socket.send(JSON.stringify(frame))
  // A browser sends the last id when it connects again, so a stream without any frame needs one as well.
  writeEvent(
    transport.stream,
    frame,
    frame.type === 'hello' ? (frame.data as { position: string }).position : frame.id
  )
}

/** Returns how many bytes the client has not read yet. */
export const unsentBytes = (transport: Transport) =>
  transport.kind === 'websocket' ? transport.socket.bufferedAmount : transport.stream.readableLength

/** Closes it in order. */
export function closeTransport (transport: Transport, code: number, reason: string) {
  if (transport.kind === 'websocket') return transport.socket.close(code, reason)
  writeEvent(transport.stream, {
    type: 'error',
    at: new Date().toISOString(),
    data: { code: String(code), error: reason }
  })
  transport.stream.push(null)
}

/** Ends it at once. */
export function terminateTransport (transport: Transport) {
  if (transport.kind === 'websocket') transport.socket.terminate()
  else transport.stream.destroy()
}
