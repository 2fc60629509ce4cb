import { Readable } from 'node:stream'
import type { Frame } from '@tandem/contracts/realtime'
import type { WebSocket } from 'ws'

/** One open connection to a client, by WebSocket or as server-sent events. */
export interface Transport {
  readonly kind: 'websocket' | 'sse'
  send(frame: Frame): void
  /** Bytes that the client has not read yet. */
  unsentBytes(): number
  /** Closes it in order. */
  close(code: number, reason: string): void
  /** Ends it at once. */
  terminate(): void
}

export function webSocketTransport (socket: WebSocket): Transport {
  return {
    kind: 'websocket',
    send: (frame) => socket.send(JSON.stringify(frame)),
    unsentBytes: () => socket.bufferedAmount,
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate()
  }
}

/** @returns the transport, and the stream that is the body of the response */
export function sseTransport (onClose: () => void) {
  const stream = new Readable({ read () {} })
  stream.on('error', () => {})
  stream.on('close', onClose)
  const write = (frame: Frame, id = frame.id) => {
    if (stream.destroyed) return
    stream.push(`event: ${frame.type}\n${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(frame)}\n\n`)
  }
  const transport: Transport = {
    kind: 'sse',
    send (frame) {
      // A browser sends the last id when it connects again, so a stream without any frame needs one as well.
      write(frame, frame.type === 'hello' ? (frame.data as { position: string }).position : frame.id)
    },
    unsentBytes: () => stream.readableLength,
    close (code, reason) {
      write({ type: 'error', at: new Date().toISOString(), data: { code: String(code), error: reason } })
      stream.push(null)
    },
    terminate: () => stream.destroy()
  }
  return { transport, stream }
}
