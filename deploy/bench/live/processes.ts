import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { startNats } from '@tandem/test-kit'
import { WebSocket } from 'ws'
import { cpuTime, residentBytes } from '../cpu.ts'
import type { BareOrder } from './bare-process.ts'
import type { GatewayOrder } from './gateway-process.ts'

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }

/** Stops what was started, the last first. */
export async function stopAll () {
  for (const cleanup of cleanups.reverse()) await cleanup()
}

/** A process that is measured. */
export interface Measured<Order> {
  url: string
  child: ChildProcess
  order: <Result>(order: Order) => Promise<Result>
  cpuMs: () => Promise<number>
  memory: () => Promise<number>
}

async function start<Order> (file: string, env: NodeJS.ProcessEnv = {}): Promise<Measured<Order>> {
  const child = fork(path.join(import.meta.dirname, file), { env: { ...process.env, ...env } })
  cleanups.push(() => child.kill('SIGKILL'))
  const [{ url }] = await once(child, 'message') as [{ url: string }]
  const pid = child.pid ?? 0
  return {
    url,
    child,
    async order (order) {
      child.send(order as object)
      const [{ result }] = await once(child, 'message') as [{ result: never }]
      return result
    },
    cpuMs: async () => await cpuTime(pid) / 1_000,
    memory: async () => await residentBytes(pid)
  }
}

export const startBare = async () => await start<BareOrder>('bare-process.ts')

let nats: Promise<{ url: string }> | undefined
export async function startGateway (env: NodeJS.ProcessEnv = {}) {
  nats ??= startNats(t)
  return await start<GatewayOrder>('gateway-process.ts', { NATS_URL: (await nats).url, ...env })
}

/** The account that a token is of. */
export const accountOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }).sub

/** Opens a connection, to the gateway with a token and to the bare server without one. */
export async function openOne (url: string, token?: string, onFrame?: (frame: { type: string, data: never }) => void) {
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}/api/mobile/v1/realtime`,
    token === undefined ? [] : ['tandem.v1', `bearer.${token}`],
    { perMessageDeflate: false }
  )
  socket.on('error', () => {})
  socket.on('message', (message) => {
    const frame = JSON.parse(String(message as Buffer)) as { type: string, data: never }
    if (frame.type === 'ping') socket.send('{"type":"pong"}')
    onFrame?.(frame)
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('close', () => reject(new Error('the connection was refused')))
  })
  return socket
}

/** Opens connections, 50 at once. @returns the sockets, and how many were opened in a second */
export async function openMany (
  url: string,
  tokens: (string | undefined)[],
  onFrame?: (frame: { type: string, data: never }) => void
) {
  const startedAt = performance.now()
  const sockets: WebSocket[] = []
  let next = 0
  await Promise.all(Array.from({ length: 50 }, async () => {
    while (next < tokens.length) sockets.push(await openOne(url, tokens[next++], onFrame))
  }))
  return { sockets, perSecond: tokens.length / ((performance.now() - startedAt) / 1_000) }
}

/** Sends requests one after another until it is stopped. @returns their times in milliseconds, and the failures */
export function measureRequests (url: string, token: string) {
  const times: number[] = []
  let failures = 0
  let isStopped = false
  const running = (async () => {
    while (!isStopped) {
      const startedAt = performance.now()
      const response = await fetch(`${url}/api/mobile/v1/feed`, { headers: { authorization: `Bearer ${token}` } })
        .catch(() => undefined)
      await response?.arrayBuffer()
      if (response?.status !== 200) failures++
      times.push(performance.now() - startedAt)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  return async () => {
    isStopped = true
    await running
    return { times, failures }
  }
}
