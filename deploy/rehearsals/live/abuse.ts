import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { WebSocket } from 'ws'
import { residentBytes } from '../kit/cpu.ts'
import { percentile } from '../kit/percentile.ts'
import { openMany, startServices, stopAll } from './processes.ts'
import { report } from './report.ts'
import { measureRequests } from './requests.ts'

const OTHERS = 200
const SECONDS = 45
/** What is logged for those that never read: 24 MB each. */
const LARGE_FRAMES = 400
const LARGE_FRAME_BYTES = 60_000
const REFUSED_UPGRADES = 1_000
/** Ordinary requests before the attacks. */
const WARM_UP_REQUESTS = 50_000
const REALTIME = '/api/mobile/v1/realtime'
/** The position before the first frame of the fake log. */
const BEGINNING = '0123456789abcdef-0'

/** How one attempt ended: a close code, the status of a refusal, or `pong`. */
type End = number | 'pong'

interface Attack {
  name: string
  /** How each attempt ends. */
  expected: End[]
  /** Between the beginnings of two attempts. */
  intervalMs: number
  attempt: () => Promise<End>
}

/** Clients do what they should not, all at once, while others are connected and send requests. */
export async function run () {
  const services = await startServices()
  const gateway = await services.startGateway()
  const tokens = await services.order<string[]>({ type: 'tokens', count: OTHERS + 2_000 })
  const nextToken = () => tokens.pop() ?? ''
  const greedy = nextToken()
  await services.order({ type: 'log', count: LARGE_FRAMES, bytes: LARGE_FRAME_BYTES })

  const attacks: Attack[] = [
    {
      name: 'never reads',
      expected: [1006],
      intervalMs: 4_000,
      attempt: async () => await neverRead(gateway.url, nextToken())
    },
    {
      name: 'does not pong',
      expected: [4408],
      intervalMs: 2_000,
      attempt: async () => await open(gateway.url, nextToken()).ended
    },
    {
      name: 'frames of 1 byte',
      expected: ['pong'],
      intervalMs: 200,
      attempt: async () => await sendBytes(gateway.url, nextToken())
    },
    {
      name: 'a frame of 5 KiB',
      expected: [1009],
      intervalMs: 200,
      attempt: async () => await sendFrame(gateway.url, nextToken(), Buffer.alloc(5_120, 'x'))
    },
    {
      name: 'bad UTF-8',
      expected: [1007],
      intervalMs: 200,
      attempt: async () => await sendFrame(gateway.url, nextToken(), Buffer.from([0xff, 0xfe]))
    },
    // The account's first 30 in a minute are accepted, and the oldest of three makes room.
    {
      name: '100 opens a second',
      expected: [429, 4429, 1000],
      intervalMs: 10,
      attempt: async () => await openAndLeave(gateway.url, greedy)
    },
    {
      name: 'h2c',
      expected: [200],
      intervalMs: 50,
      attempt: async () =>
        await statusOf(gateway.url, '/api/mobile/v1/meta', [
          'Connection: Upgrade, HTTP2-Settings',
          'Upgrade: h2c',
          'HTTP2-Settings: AAMAAABk'
        ])
    }
  ]

  const others = await openMany(gateway.url, Array.from({ length: OTHERS }, nextToken))
  // The heap of a process that has just started grows with any work. What the attacks add is measured in one that is in
  // use.
  await autocannon({
    url: `${gateway.url}/api/mobile/v1/feed`,
    headers: { authorization: `Bearer ${nextToken()}` },
    amount: WARM_UP_REQUESTS
  })
  const requests = measureRequests([gateway.url], nextToken())
  let largest = 0
  const watching = setInterval(() => {
    void residentBytes(gateway.pid).then((bytes) => largest = Math.max(largest, bytes))
  }, 500)
  await sleep(15_000)
  const largestBefore = largest
  const roundTrips: number[] = []
  const pinging = setInterval(
    () => void ping(others[roundTrips.length % OTHERS]!).then((ms) => roundTrips.push(ms)),
    200
  )
  const wrong = (await Promise.all(attacks.map(repeat))).flat()
  clearInterval(pinging)
  clearInterval(watching)
  const { times, failures } = await requests()

  const descriptors = () => readdirSync(`/proc/${gateway.pid}/fd`).length
  const descriptorsBefore = descriptors()
  const statuses = await refuseUpgrades(gateway.url)
  for (let waited = 0; waited < 20 && descriptors() > descriptorsBefore; waited++) await sleep(250)
  report([
    { what: 'attempts that ended in another way', figure: wrong.length, unit: '', atMost: 0 },
    {
      what: 'others that lost their connection',
      figure: others.filter(({ readyState }) => readyState !== WebSocket.OPEN).length,
      unit: '',
      atMost: 0
    },
    { what: "others' requests that failed", figure: failures, unit: '', atMost: 0 },
    { what: "others' requests, p99", figure: percentile(times, 99), unit: 'ms', atMost: 200 },
    { what: "others' ping to pong, p99", figure: percentile(roundTrips, 99), unit: 'ms', atMost: 200 },
    { what: 'largest memory, times the memory before', figure: largest / largestBefore, unit: 'x', atMost: 1.2 },
    {
      what: 'refused upgrades without 401',
      figure: statuses.filter((status) => status !== 401).length,
      unit: '',
      atMost: 0
    },
    {
      what: 'descriptors that they left open',
      figure: Math.max(0, descriptors() - descriptorsBefore),
      unit: '',
      atMost: 0
    }
  ])
  await stopAll()
}

/** Begins attempts for a while, and waits for all of them. @returns those that ended in another way than expected */
async function repeat ({ name, expected, intervalMs, attempt }: Attack) {
  const running: Promise<End>[] = []
  const endsAt = Date.now() + SECONDS * 1_000
  while (Date.now() < endsAt) {
    running.push(attempt())
    await sleep(intervalMs)
  }
  const ends = await Promise.all(running)
  console.log(
    `${name}: ${ends.length} times, ${
      JSON.stringify(Object.fromEntries(Map.groupBy(ends, String).entries().map(([end, all]) => [end, all.length])))
    }`
  )
  return ends.filter((end) => !expected.includes(end))
}

/** Opens a connection; `ended` is its close code, or the status of the refusal. */
function open (url: string, token: string, query = '') {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${REALTIME}${query}`, ['tandem.v1', `bearer.${token}`], {
    perMessageDeflate: false
  })
  socket.on('error', () => {})
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  socket.on('close', (code) => end(code))
  socket.on('unexpected-response', (_request, response) => {
    response.resume()
    end(response.statusCode ?? 0)
  })
  return { socket, ended }
}

async function neverRead (url: string, token: string) {
  const { socket, ended } = open(url, token, `?after=${BEGINNING}`)
  socket.once('open', () => socket.pause())
  // What it left unread hides the end from it, so it begins to read after its connection has ended.
  setTimeout(() => socket.resume(), 40_000)
  return await ended
}

async function sendBytes (url: string, token: string): Promise<End> {
  const { socket, ended } = open(url, token)
  const pong = new Promise<End>((resolve) => {
    socket.on('message', (message) => {
      if (String(message as Buffer).includes('"pong"')) resolve('pong')
    })
  })
  socket.once('open', () => {
    const bytes = '{"type":"ping"}'.split('')
    for (const [index, byte] of bytes.entries()) socket.send(byte, { fin: index === bytes.length - 1 })
  })
  const end = await Promise.race([pong, ended])
  socket.terminate()
  return end
}

async function sendFrame (url: string, token: string, frame: Buffer) {
  const { socket, ended } = open(url, token)
  socket.once('open', () => socket.send(frame, { binary: false }))
  return await ended
}

async function openAndLeave (url: string, token: string) {
  const { socket, ended } = open(url, token)
  setTimeout(() => socket.close(1000), 5_000)
  return await ended
}

/** The status of an upgrade that is not a WebSocket's, or that is refused. */
async function statusOf (url: string, path: string, headers: string[]): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`)
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.includes('\r\n\r\n')) break
  }
  socket.destroy()
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
}

async function refuseUpgrades (url: string) {
  const statuses: number[] = []
  const headers = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: tandem.v1'
  ]
  for (let sent = 0; sent < REFUSED_UPGRADES; sent += 50) {
    statuses.push(...await Promise.all(Array.from({ length: 50 }, async () => await statusOf(url, REALTIME, headers))))
  }
  return statuses
}

/** How long a ping of the client takes, in milliseconds. */
async function ping (socket: WebSocket) {
  const startedAt = performance.now()
  await new Promise<void>((resolve) => {
    const listen = (message: unknown) => {
      if (!String(message).includes('"pong"')) return
      socket.off('message', listen)
      resolve()
    }
    socket.on('message', listen)
    socket.send('{"type":"ping"}')
  })
  return performance.now() - startedAt
}
