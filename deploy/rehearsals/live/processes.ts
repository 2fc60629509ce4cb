import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { startNats, startProcess, startRedis } from '@tandem/test-kit'
import { WebSocket } from 'ws'
import type { ServicesOrder } from './services-process.ts'

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }

/** Stops what was started, the last first. */
export async function stopAll () {
  for (const cleanup of cleanups.reverse()) await cleanup()
}

/** Starts the fake services of gateways. `startGateway` starts the process of a gateway, as it runs in production. */
export async function startServices () {
  const [nats, redis] = [await startNats(t), await startRedis(t)]
  const services = fork(path.join(import.meta.dirname, 'services-process.ts'), {
    env: { ...process.env, NATS_URL: nats.url }
  })
  cleanups.push(() => services.kill('SIGKILL'))
  await once(services, 'message')
  async function order<Result> (order: ServicesOrder): Promise<Result> {
    services.send(order)
    const [{ result }] = await once(services, 'message') as [{ result: Result }]
    return result
  }
  const large = '100000'
  const variables = {
    ...await order<NodeJS.ProcessEnv>({ type: 'environment' }),
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    FLOOD_LIMIT: 'off',
    REALTIME_MAX_CONNECTIONS: large,
    REALTIME_MAX_PER_ADDRESS: large,
    REALTIME_OPENS_PER_SECOND: large
  }
  return {
    order,
    async startGateway (env: NodeJS.ProcessEnv = {}) {
      const gateway = await startProcess(t, 'gateway/main.ts', { ...variables, ...env })
      return { url: `http://127.0.0.1:${gateway.port}`, pid: gateway.pid ?? 0, stop: gateway.stop }
    }
  }
}

/** The account that a token is of. */
export const accountOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }).sub

/** Opens a connection to the gateway. */
export async function openOne (url: string, token: string, onFrame?: (frame: { type: string, data: never }) => void) {
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}/api/mobile/v1/realtime`,
    ['tandem.v1', `bearer.${token}`],
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

/** Opens connections, 50 at once. */
export async function openMany (url: string, tokens: string[]) {
  const sockets: WebSocket[] = []
  let next = 0
  await Promise.all(Array.from({ length: 50 }, async () => {
    while (next < tokens.length) sockets.push(await openOne(url, tokens[next++]!))
  }))
  return sockets
}
