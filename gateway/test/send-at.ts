import { request as httpRequest } from 'node:http'
import type { testGateway } from './gateway.ts'

const MEBIBYTE = 1024 * 1024

export type Gateway = Pick<Awaited<ReturnType<typeof testGateway>>, 'url' | 'as'>

export interface Sending {
  path?: string
  headers?: object
  from?: string
  length?: number
  /** The bytes that are sent at once; the others follow in pieces. */
  burst?: number
  bytesPerSecond: number
}

/** Sends a body at a given rate, in five pieces a second. */
export function sendAt ({ url, as }: Gateway, options: Sending) {
  const { path = '/media', headers = as(), from, length = 5 * MEBIBYTE, burst = 1_000, bytesPerSecond } = options
  const since = performance.now()
  const sending = httpRequest(`${url}/api/mobile/v1${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-length': length },
    localAddress: from,
    agent: false
  })
  let sent = burst
  const isOpen = new Promise<void>((resolve) => void sending.write(Buffer.alloc(burst), () => resolve()))
  const timer = setInterval(() => {
    const piece = Math.min(Math.round(bytesPerSecond / 5), length - sent)
    sent += piece
    if (piece > 0) sending.write(Buffer.alloc(piece))
  }, 200)
  const answer = new Promise<{ status: number | undefined, body: string, ms: number }>((resolve) => {
    const end = (status: number | undefined, body: string) => {
      clearInterval(timer)
      sending.destroy()
      resolve({ status, body, ms: performance.now() - since })
    }
    sending.on('error', () => end(undefined, ''))
    sending.on('response', async (response) => end(response.statusCode, (await response.toArray()).join('')))
  })
  return { isOpen, answer, stop: () => sending.destroy() }
}
