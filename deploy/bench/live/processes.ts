import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNats, startProcess, startRedis } from '@tandem/test-kit'
import { WebSocket } from 'ws'
import { cpuTime, residentBytes } from '../cpu.ts'
import type { BareOrder } from './bare-process.ts'
import type { RequestsOrder } from './requests-process.ts'
import type { ServicesOrder } from './services-process.ts'

const COLLECTION_MS = 2_000

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }

/** Stops what was started, the last first. */
export async function stopAll () {
  for (const cleanup of cleanups.reverse()) await cleanup()
}

/** A process that is measured. */
export interface Measured {
  url: string
  cpuMs: () => Promise<number>
  /** Its resident memory without garbage, in bytes. */
  memory: () => Promise<number>
}

/** Variables for a process whose memory is measured. */
const measuredEnvironment = {
  NODE_OPTIONS: `--expose-gc --import ${path.join(import.meta.dirname, 'collect-on-signal.ts')}`
}

const measured = (url: string, pid: number): Measured => ({
  url,
  cpuMs: async () => await cpuTime(pid) / 1_000,
  async memory () {
    process.kill(pid, 'SIGWINCH')
    await sleep(COLLECTION_MS)
    return await residentBytes(pid)
  }
})

async function start<Order> (file: string, env: NodeJS.ProcessEnv = {}) {
  const child = fork(path.join(import.meta.dirname, file), {
    env: { ...process.env, ...measuredEnvironment, ...env }
  })
  cleanups.push(() => child.kill('SIGKILL'))
  const [{ url = '' }] = await once(child, 'message') as [{ url?: string }]
  return {
    ...measured(url, child.pid ?? 0),
    async order<Result> (order: Order): Promise<Result> {
      child.send(order as object)
      const [{ result }] = await once(child, 'message') as [{ result: Result }]
      return result
    }
  }
}

export const startBare = async () => await start<BareOrder>('bare-process.ts')

/** Starts a process that measures requests like `measureRequests`, for as long as it is ordered to. */
export const startRequests = async () => await start<RequestsOrder>('requests-process.ts')

/** Starts the fake services of gateways. `startGateway` starts the process of a gateway, as it runs in production. */
export async function startServices () {
  const [nats, redis] = [await startNats(t), await startRedis(t)]
  const services = await start<ServicesOrder>('services-process.ts', { NATS_URL: nats.url })
  const large = '100000'
  const variables = {
    ...await services.order<NodeJS.ProcessEnv>({ type: 'environment' }),
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    FLOOD_LIMIT: 'off',
    REALTIME_MAX_CONNECTIONS: large,
    REALTIME_MAX_PER_ADDRESS: large,
    REALTIME_OPENS_PER_SECOND: large
  }
  return {
    order: services.order,
    async startGateway (env: NodeJS.ProcessEnv = {}) {
      const gateway = await startProcess(t, 'gateway/main.ts', { ...variables, ...measuredEnvironment, ...env })
      const pid = gateway.pid ?? 0
      return { ...measured(`http://127.0.0.1:${gateway.port}`, pid), pid, stop: gateway.stop }
    }
  }
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
