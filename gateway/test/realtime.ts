import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectSocket } from 'node:net'
import type {
  FeedPage,
  FeedRequest,
  Frame,
  Presence,
  PresenceAnswer,
  PresenceRequest
} from '@tandem/contracts/realtime'
import { until } from '@tandem/test-kit'
import { WebSocket } from 'ws'
import { testGateway, type FakeService } from './gateway.ts'
import { standardTimes, type Times } from '../realtime/times.ts'
import { REALTIME_PATH } from '../realtime/upgrade.ts'

interface Teardown {
  teardown(work: () => unknown): unknown
}

const EPOCH = '0123456789abcdef'
const MAX_PAGE_BYTES = 64 * 1024

/** Waits that a test would otherwise spend most of its time in. */
const quickTimes = {
  ...standardTimes,
  pollWithoutSignals: 200,
  retry: 100,
  maxStalled: 1_000,
  presence: 200,
  tick: 50
}

async function readBody<Item> (request: IncomingMessage) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as { items: Item[] }
}

/** A fake notification service with one log for all accounts. */
function fakeFeed (service: FakeService) {
  const frames: Frame[] = []
  const requests: FeedRequest[] = []
  const feed = {
    requests,
    /** Logs a frame, without a signal. */
    log (text: string) {
      frames.push({
        type: 'account.changed',
        id: `${EPOCH}-${frames.length + 1}`,
        at: new Date().toISOString(),
        data: { parts: ['PROFILE'], text }
      })
    },
    isRefusing: false,
    /** What an answer waits for. */
    hold: async (): Promise<unknown> => undefined
  }
  service.documents.set('/internal/realtime', async (request: IncomingMessage) => {
    const { items } = await readBody<FeedRequest>(request)
    requests.push(...items)
    await feed.hold()
    return { items: items.map(({ after }) => feed.isRefusing ? { code: 'INVALID_ACCESS_TOKEN' } : pageAfter(after)) }
  })

  function pageAfter (after: string | undefined): FeedPage {
    const seq = Number(after?.split('-')[1] ?? Number.NaN)
    const resumed = seq <= frames.length
    const page: Frame[] = []
    for (let bytes = 0, next = seq; resumed && next < frames.length && page.length < 50; next++) {
      bytes += JSON.stringify(frames[next]).length
      if (bytes > MAX_PAGE_BYTES && page.length > 0) break
      page.push(frames[next]!)
    }
    const end = resumed ? seq + page.length : frames.length
    return {
      frames: page,
      position: `${EPOCH}-${end}`,
      resumed,
      more: resumed && end < frames.length,
      unreadCount: 3
    }
  }
  return feed
}

/** A fake fitmatch, in which every account is matched with everybody in `of`. */
function fakePresence (service: FakeService) {
  const presence = { of: new Map<string, Presence>(), requests: [] as PresenceRequest[], isUnavailable: false }
  service.documents.set('/internal/realtime', async (request: IncomingMessage) => {
    const { items } = await readBody<PresenceRequest>(request)
    presence.requests.push(...items)
    // Not what the gateway expects, like any response of a service in trouble.
    if (presence.isUnavailable) return {}
    const answers: PresenceAnswer[] = items.map(({ matchIds }) => ({
      presence: matchIds.flatMap((matchId) => presence.of.get(matchId) ?? [])
    }))
    return { items: answers }
  })
  return presence
}

interface Client {
  frames: Frame[]
  /** Waits for a frame of this type. */
  next: (type: string) => Promise<Frame>
  /** The close code of a WebSocket, or the code in the last event of a stream. */
  closed: Promise<number>
  close: () => void
}

interface ConnectOptions {
  headers?: Record<string, string>
  after?: string
  watch?: string
}

const withNext = (client: Omit<Client, 'next'>): Client => ({
  ...client,
  async next (type) {
    await until(() => client.frames.some((frame) => frame.type === type))
    return client.frames.find((frame) => frame.type === type)!
  }
})

const pathOf = ({ after, watch }: ConnectOptions) =>
  `${REALTIME_PATH}?${
    new URLSearchParams({ ...after !== undefined && { after }, ...watch !== undefined && { watch } }).toString()
  }`

/** Opens a WebSocket. Rejects with the response if it is refused. */
export async function openSocket (t: Teardown, origin: string, options: ConnectOptions = {}) {
  const { headers = {} } = options
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${pathOf(options)}`, 'tandem.v1', { headers })
  const frames: Frame[] = []
  socket.on('message', (message) => frames.push(JSON.parse(String(message as Buffer)) as Frame))
  socket.on('error', () => {})
  const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)))
  t.teardown(() => socket.terminate())
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('unexpected-response', (_request, response) => {
      response.resume()
      reject(Object.assign(new Error(`refused with ${response.statusCode}`), { status: response.statusCode }))
      socket.terminate()
    })
  })
  return { ...withNext({ frames, closed, close: () => socket.close() }), socket }
}

/** Opens a stream of server-sent events. */
export async function openEvents (t: Teardown, origin: string, options: ConnectOptions = {}) {
  const { headers = {} } = options
  const request = httpRequest(`${origin}${pathOf(options)}`, {
    headers: { accept: 'text/event-stream', ...headers },
    agent: false
  })
  request.on('error', () => {})
  request.end()
  const [response] = await once(request, 'response') as [IncomingMessage]
  if (response.statusCode !== 200) {
    response.resume()
    throw Object.assign(new Error(`refused with ${response.statusCode}`), { status: response.statusCode })
  }
  const frames: Frame[] = []
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = text.slice(0, end).split('\n').find((line) => line.startsWith('data: '))
      if (data !== undefined) frames.push(JSON.parse(data.slice(6)) as Frame)
      text = text.slice(end + 2)
    }
  })
  response.on('error', () => {})
  const closed = new Promise<number>((resolve) =>
    response.on('close', () => resolve(Number((frames.at(-1)?.data as { code?: string } | undefined)?.code ?? 0)))
  )
  t.teardown(() => request.destroy())
  return { ...withNext({ frames, closed, close: () => request.destroy() }), headers: response.headers }
}

/** A listening gateway whose notification service has a log. It stops at once, unless `env` says otherwise. */
export async function realtimeGateway (t: Teardown, env: NodeJS.ProcessEnv = {}, times: Partial<Times> = {}) {
  const gateway = await testGateway(t, {
    env: { REALTIME_DRAIN_SECONDS: '0', ...env },
    realtimeTimes: { ...quickTimes, ...times }
  })
  const feed = fakeFeed(gateway.services.notification)
  const presence = fakePresence(gateway.services.fitmatch)
  await until(async () => (await gateway.call('/health/ready')).status === 200)
  return { ...gateway, feed, presence }
}

/** Sends an upgrade over a raw socket; resolves with what arrives until the server closes, or after the handshake. */
export async function rawUpgrade (url: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(url)
  const socket = connectSocket(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(
    `GET ${REALTIME_PATH} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${lines}\r\n`
  )
  let text = ''
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (text.includes('101 Switching')) resolve()
    })
    socket.on('close', () => resolve())
  })
  socket.destroy()
  return { text }
}
