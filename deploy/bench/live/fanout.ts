import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@tandem/test-kit'
import { accountOf, openMany, startBare, startServices, stopAll } from './processes.ts'
import { report } from './report.ts'

const CONNECTIONS = 500
const FRAMES = 40
const OPENS = 2_000

/** Sends frames to many connections at once: the CPU of each, and of opening a connection. */
export async function run () {
  const services = await startServices()
  const [gateway, bare] = [await services.startGateway(), await startBare()]
  const tokens = await services.order<string[]>({ type: 'tokens', count: CONNECTIONS })
  const accountIds = tokens.map(accountOf)
  const received = new Map<string, number>()
  let sample: unknown
  const onFrame = (frame: { type: string }) => {
    received.set(frame.type, (received.get(frame.type) ?? 0) + 1)
    if (frame.type === 'account.changed') sample = frame
  }
  await openMany(gateway.url, tokens, onFrame)
  await openMany(bare.url, Array.from({ length: CONNECTIONS }), onFrame)
  // The first ones have warmed up the code that opens connections.
  const newTokens = await services.order<string[]>({ type: 'tokens', count: OPENS })
  const opens = await measureOpens(gateway.url, newTokens)
  // An app has used its token for requests, and uses it again when it lost its connection.
  const opensAgain = await measureOpens(gateway.url, newTokens)
  const bareOpens = await measureOpens(bare.url, Array.from({ length: OPENS }))

  const total = CONNECTIONS * FRAMES
  async function cpuOf (measured: { cpuMs: () => Promise<number> }, type: string, work: () => Promise<unknown>) {
    received.set(type, 0)
    const before = await measured.cpuMs()
    await work()
    await until(() => (received.get(type) ?? 0) >= total)
    return (await measured.cpuMs() - before) * 1_000 / total
  }
  const kept = await cpuOf(
    gateway,
    'account.changed',
    async () => await services.order({ type: 'frames', accountIds, count: FRAMES })
  )
  const typing = await cpuOf(
    gateway,
    'chat.typing',
    async () => await services.order({ type: 'typing', accountIds, count: FRAMES })
  )
  const bareFrame = await cpuOf(
    bare,
    'account.changed',
    async () => await bare.order({ type: 'frames', frame: sample, count: FRAMES })
  )
  console.log(`${FRAMES} frames to each of ${CONNECTIONS} connections`)
  report([
    { what: 'CPU of a kept frame', figure: kept, unit: 'µs', atMost: bareFrame * 3, reference: bareFrame },
    { what: 'CPU of typing', figure: typing, unit: 'µs', atMost: bareFrame * 2, reference: bareFrame },
    {
      what: 'time to open a connection, times bare ws',
      figure: bareOpens / opens,
      unit: 'x',
      atMost: 2,
      reference: 1
    },
    {
      what: 'the same with a token that was used before',
      figure: bareOpens / opensAgain,
      unit: 'x',
      atMost: 2,
      reference: 1
    }
  ])
  await stopAll()
}

/** Opens connections and closes them. @returns how many were opened in a second */
async function measureOpens (url: string, tokens: (string | undefined)[]) {
  const { sockets, perSecond } = await openMany(url, tokens)
  for (const socket of sockets) socket.terminate()
  await sleep(1_000)
  return perSecond
}
