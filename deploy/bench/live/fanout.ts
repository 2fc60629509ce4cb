import { until } from '@tandem/test-kit'
import { accountOf, openMany, startBare, startGateway, stopAll } from './processes.ts'
import { report } from './report.ts'

const CONNECTIONS = 500
const FRAMES = 40

/** Sends frames to many connections at once: the CPU of each, and of opening a connection. */
export async function run () {
  const [gateway, bare] = [await startGateway(), await startBare()]
  const tokens = await gateway.order<string[]>({ type: 'tokens', count: CONNECTIONS })
  const accountIds = tokens.map(accountOf)
  const received = new Map<string, number>()
  let sample: unknown
  const onFrame = (frame: { type: string }) => {
    received.set(frame.type, (received.get(frame.type) ?? 0) + 1)
    if (frame.type === 'account.changed') sample = frame
  }
  const gatewayOpens = await openMany(gateway.url, tokens, onFrame)
  const bareOpens = await openMany(bare.url, Array.from({ length: CONNECTIONS }), onFrame)

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
    async () => await gateway.order({ type: 'frames', accountIds, count: FRAMES })
  )
  const typing = await cpuOf(
    gateway,
    'chat.typing',
    async () => await gateway.order({ type: 'typing', accountIds, count: FRAMES })
  )
  const bareFrame = await cpuOf(
    bare,
    'account.changed',
    async () => await bare.order({ type: 'frames', frame: sample, count: FRAMES })
  )
  console.log(`${FRAMES} frames to each of ${CONNECTIONS} connections; the fake services and publishers are included`)
  report([
    { what: 'CPU of a kept frame', figure: kept, unit: 'µs', atMost: bareFrame * 3, reference: bareFrame },
    { what: 'CPU of typing', figure: typing, unit: 'µs', atMost: bareFrame * 2, reference: bareFrame },
    {
      what: 'time to open a connection, times bare ws',
      figure: bareOpens.perSecond / gatewayOpens.perSecond,
      unit: 'x',
      atMost: 2,
      reference: 1
    }
  ])
  await stopAll()
}
