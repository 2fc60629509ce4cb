import { setTimeout as sleep } from 'node:timers/promises'
import { createTandem, memoryStorage } from '@tandem/sdk'
import { seededRandom, shuffle, startNats, startRedis, type TestServer } from '@tandem/test-kit'
import pg from 'pg'
import { killIfRunning } from '../kit/kills.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { createPairs, sendMessage, type Writer } from './pairs.ts'
import { report } from './report.ts'

const PAIRS = 8
const KILLS_OF_EACH = 2
const KILL_INTERVAL_MS = 5_000
const SERVER_DOWN_MS = 1_000

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work), passing: () => process.exitCode !== 1 }

/**
 * Kills processes and servers, and wipes NATS, while people chat: each acknowledged message and its notification arrive
 * once, and everybody comes back.
 */
export async function run () {
  const [redis, nats] = [await startRedis(t), await startNats(t)]
  await withStack(async (stack, dataDir) => {
    const writers = await createPairs(stack, PAIRS)
    const clients = writers.map((writer) => connect(stack.gateway.url, writer))
    const acknowledged: { id: string, matchId: string, sender: string }[] = []
    let isWriting = true
    const writing = writers.map(async (writer, number) => {
      for (let turn = 0; isWriting; turn++) {
        await sendMessage(stack, writer, `${number}-${turn}`).then(
          ({ id }) => acknowledged.push({ id, matchId: writer.matchId, sender: writer.accountId }),
          () => {}
        )
        await sleep(1_500)
      }
    })
    const kills = killsInTurn(stack, dataDir, { nats, redis })
    for (const [index, { name, kill }] of kills.entries()) {
      await sleep(KILL_INTERVAL_MS)
      await kill()
      console.log(`${index + 1}/${kills.length}: kill -9 ${name}`)
      if (index + 1 === kills.length / 2) {
        await nats.wipe()
        console.log('wiped NATS')
      }
    }
    isWriting = false
    await Promise.all(writing)
    const lostMessages = () =>
      clients.flatMap(({ matchId, messages }) =>
        acknowledged.filter((message) => message.matchId === matchId && !messages.has(message.id))
      ).length
    const lostNotifications = () =>
      clients.flatMap(({ accountId, matchId, notifications }) =>
        acknowledged.filter((message) =>
          message.matchId === matchId && message.sender !== accountId && !notifications.has(message.id)
        )
      ).length
    for (let waited = 0; waited < 60 && lostMessages() + lostNotifications() > 0; waited++) await sleep(1_000)
    console.log(`${acknowledged.length} acknowledged messages, each for two clients; ${kills.length} kills`)
    const repeatedOf = (of: 'messages' | 'notifications') =>
      clients.flatMap((client) => [...client[of].values()].filter((count) => count > 1)).length
    report([
      { what: 'messages that did not arrive', figure: lostMessages(), unit: '', atMost: 0 },
      { what: 'frames of a message that arrived twice', figure: repeatedOf('messages'), unit: '', atMost: 0 },
      { what: 'notifications that did not arrive', figure: lostNotifications(), unit: '', atMost: 0 },
      { what: 'frames of a notification that arrived twice', figure: repeatedOf('notifications'), unit: '', atMost: 0 },
      {
        what: 'longest time without a connection',
        figure: Math.max(...clients.map(({ longestMs }) => longestMs())) / 1_000,
        unit: 's',
        atMost: 10
      }
    ])
  }, { REDIS_URL: redis.url, NATS_URL: nats.url })
  for (const cleanup of cleanups.reverse()) await cleanup()
}

/** Kills each process and server twice, in random order, and starts a server again. */
function killsInTurn (stack: Stack, dataDir: string, { nats, redis }: Record<'nats' | 'redis', TestServer>) {
  const killProcess = async (name: string) => {
    while (await killIfRunning(dataDir, name) === undefined) await sleep(100)
  }
  const killServer = async (server: TestServer) => {
    await server.kill()
    await sleep(SERVER_DOWN_MS)
    await server.start()
  }
  const targets = [
    ...['gateway', ...Object.keys(stack.services)].map((name) => ({ name, kill: async () => await killProcess(name) })),
    { name: 'NATS', kill: async () => await killServer(nats) },
    { name: 'Redis', kill: async () => await killServer(redis) },
    { name: 'Postgres', kill: async () => await crashPostgres(stack.postgres.url) }
  ]
  return shuffle(Array.from({ length: KILLS_OF_EACH }, () => targets).flat(), seededRandom(t))
}

/** Kills one process of Postgres: it ends all others, and recovers from its log as after a crash of the server. */
async function crashPostgres (connectionString: string) {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  const { rows: [own] } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const ended = new Promise((resolve) => client.once('end', resolve))
  process.kill(own!.pid, 'SIGKILL')
  await ended
}

/** A client of the SDK. It counts the frames of each message and notification; what it only loaded has none. */
function connect (url: string, { token, accountId, matchId }: Writer) {
  const messages = new Map<string, number>()
  const notifications = new Map<string, number>()
  const count = (counts: Map<string, number>, id: string, frames: number) =>
    counts.set(id, (counts.get(id) ?? 0) + frames)
  let lostAt: number | undefined
  let longestMs = 0
  const tandem = createTandem({ url, storage: memoryStorage({ accessToken: token, refreshToken: '' }) })
  /** As an app does, until it succeeds. */
  const load = async () => {
    for (;;) {
      const [chat, inbox] = await Promise.all([
        tandem.getChat({ path: { matchId }, query: { limit: 100, markRead: false } }).catch(() => undefined),
        tandem.listNotifications({ query: { limit: 50 } }).catch(() => undefined)
      ])
      for (const { id } of chat?.data.messages ?? []) count(messages, id, 0)
      for (const { data } of inbox?.data.notifications ?? []) count(notifications, String(data['messageId']), 0)
      if (chat && inbox) return
      await sleep(1_000)
    }
  }
  const realtime = tandem.connectRealtime({
    onConnected (isConnected) {
      if (!isConnected) lostAt = performance.now()
      else if (lostAt !== undefined) longestMs = Math.max(longestMs, performance.now() - lostAt)
    },
    onReload: () => void load()
  })
  realtime.on('message.created', ({ data: { message, notification } }) => {
    if (message) count(messages, message.id, 1)
    if (notification) count(notifications, String(notification.data['messageId']), 1)
    // Its text could not be read in time: an app asks for what is new.
    if (!message || !message.isMine && !notification) void load()
  })
  return { accountId, matchId, messages, notifications, longestMs: () => longestMs }
}
