import { setTimeout as sleep } from 'node:timers/promises'
import { createTandem, memoryStorage } from '@tandem/sdk'
import { seededRandom } from '@tandem/test-kit'
import { readStack, withStack } from '../stack.ts'
import { createPairs, sendMessage, type Writer } from './pairs.ts'
import { report } from './report.ts'

const PAIRS = 8
const KILLS = 10
const KILL_INTERVAL_MS = 7_000

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work), passing: () => process.exitCode !== 1 }

/** Kills processes while people chat: each acknowledged message arrives once at both, and everybody comes back. */
export async function run () {
  await withStack(async (stack, dataDir) => {
    const writers = await createPairs(stack, PAIRS)
    const clients = writers.map((writer) => connect(stack.gateway.url, writer))
    const acknowledged = new Map<string, string>()
    let isWriting = true
    const writing = writers.map(async (writer, number) => {
      for (let turn = 0; isWriting; turn++) {
        await sendMessage(stack, writer, `${number}-${turn}`).then(
          ({ id }) => acknowledged.set(id, writer.matchId),
          () => {}
        )
        await sleep(1_500)
      }
    })
    const random = seededRandom(t)
    const killed = new Set<number>()
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(KILL_INTERVAL_MS)
      const { gateway, services } = await readStack(dataDir)
      const running = Object.entries({ gateway, ...services }).flatMap(([name, { pid }]) =>
        pid === null || killed.has(pid) ? [] : [{ name, pid }]
      )
      const target = running[Math.floor(random() * running.length)]
      if (!target) continue
      console.log(`${kill}/${KILLS}: kill -9 ${target.name}`)
      process.kill(target.pid, 'SIGKILL')
      killed.add(target.pid)
    }
    isWriting = false
    await Promise.all(writing)
    const lost = () =>
      clients.flatMap(({ matchId, frames, loaded }) =>
        [...acknowledged].filter(([id, match]) => match === matchId && !frames.has(id) && !loaded.has(id))
      ).length
    for (let waited = 0; waited < 40 && lost() > 0; waited++) await sleep(1_000)
    const twice = clients.flatMap(({ frames }) => [...frames.values()].filter((count) => count > 1)).length
    console.log(`${acknowledged.size} acknowledged messages, each for two clients; ${KILLS} kills`)
    report([
      { what: 'messages that did not arrive', figure: lost(), unit: '', atMost: 0 },
      { what: 'frames of a message that arrived twice', figure: twice, unit: '', atMost: 0 },
      {
        what: 'longest time without a connection',
        figure: Math.max(...clients.map(({ longestMs }) => longestMs())) / 1_000,
        unit: 's',
        atMost: 10
      }
    ])
  })
  for (const cleanup of cleanups) cleanup()
}

/** A client of the SDK. It counts the frames of each message, and remembers what it had to load again. */
function connect (url: string, { token, matchId }: Writer) {
  const frames = new Map<string, number>()
  const loaded = new Set<string>()
  let lostAt: number | undefined
  let longestMs = 0
  const tandem = createTandem({ url, storage: memoryStorage({ accessToken: token, refreshToken: '' }) })
  /** As an app does, until it succeeds. */
  const load = async () => {
    const query = { limit: 100, markRead: false }
    for (;;) {
      const chat = await tandem.getChat({ path: { matchId }, query }).catch(() => undefined)
      for (const { id } of chat?.data.messages ?? []) loaded.add(id)
      if (chat) return
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
  realtime.on('message.created', ({ data }) => {
    const id = data.message?.id
    if (id !== undefined) frames.set(id, (frames.get(id) ?? 0) + 1)
    // Its text could not be read in time: an app asks for what is new.
    else void load()
  })
  return { matchId, frames, loaded, longestMs: () => longestMs }
}
