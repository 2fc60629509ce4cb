import { once } from 'node:events'
import { connect } from 'node:net'

interface RawRequest {
  path: string
  headers?: Record<string, string>
  body: Buffer
  chunked?: boolean
  close?: boolean
}

/**
 * Sends a complete POST over a raw socket before it reads, as many clients do. Returns the response; its status is 0 if
 * the connection was reset before a response could be read.
 */
export async function postThenRead (
  port: number,
  { path, headers = {}, body, chunked = false, close = false }: RawRequest
) {
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  let failed = ''
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failed = error.code ?? error.message
  })
  await once(socket, 'connect')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const more = Object.entries({ ...headers, ...(close && { connection: 'close' }) }).map(([name, value]) =>
    `${name}: ${value}\r\n`
  ).join('')
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${length}\r\n${more}\r\n`)
  for (let at = 0; at < body.length && !socket.destroyed; at += 65_536) {
    const piece = body.subarray(at, at + 65_536)
    const framed = chunked
      ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
      : piece
    if (!socket.write(framed)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
  if (chunked && !socket.destroyed) socket.write('0\r\n\r\n')
  const read = () => {
    const [head = '', text = ''] = Buffer.concat(received).toString('latin1').split('\r\n\r\n')
    const isComplete = text.length > 0 && text.length === Number(/content-length: (\d+)/i.exec(head)?.[1])
    return {
      status: Number(head.split(' ')[1] ?? 0),
      text,
      isComplete,
      closes: /^connection: close/im.test(head),
      failed
    }
  }
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    if (read().isComplete) socket.destroy()
  })
  await closed
  return read()
}
