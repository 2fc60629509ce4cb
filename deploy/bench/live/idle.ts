import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../table.ts'
import { openMany, startBare, startRequests, startServices, stopAll, type Measured } from './processes.ts'
import { report } from './report.ts'

const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 10_000)
/** Each connection gets a heartbeat in this time. */
const SECONDS = 50
const WARM_UP = 2_000
const ROUNDS = 10
const ROUND_MS = 5_000

/** Holds connections on which nothing happens: what they cost in memory and CPU, and what requests feel of them. */
export async function run () {
  const services = await startServices()
  const [gateway, empty, bare] = [
    await services.startGateway(),
    await services.startGateway(),
    await startBare()
  ]
  const tokens = await services.order<string[]>({ type: 'tokens', count: CONNECTIONS })

  // One after the other, as a process can often open 20,000 descriptors at most.
  const reference = await hold(bare, Array.from({ length: CONNECTIONS }))
  for (const socket of reference.sockets) socket.terminate()
  const { bytes, share } = await hold(gateway, tokens)
  const [busy, alone] = await measureInTurns([gateway.url, empty.url], tokens[0]!)
  console.log(`${CONNECTIONS} idle connections; p99 of requests ${busy.toFixed(2)} ms, without ${alone.toFixed(2)}`)
  report([
    {
      what: 'memory of a connection, times bare ws',
      figure: bytes / reference.bytes,
      unit: 'x',
      atMost: 1.5,
      reference: 1
    },
    {
      what: 'memory of a connection',
      figure: bytes / 1_024,
      unit: 'KiB',
      atMost: 24,
      reference: reference.bytes / 1_024
    },
    { what: 'CPU', figure: share, unit: '% of a core', atMost: 3, reference: reference.share },
    { what: 'p99 of requests, times without connections', figure: busy / alone, unit: 'x', atMost: 1.1, reference: 1 }
  ])
  await stopAll()
}

/** @returns the p99 of requests to each gateway, in milliseconds. Both are measured while the machine does the same. */
async function measureInTurns (urls: [string, string], token: string) {
  const { order } = await startRequests()
  const times = urls.map((): number[] => [])
  for (const isWarmUp of [true, ...Array.from({ length: ROUNDS }, () => false)]) {
    for (const [which, url] of urls.entries()) {
      const round = await order<{ times: number[], failures: number }>({ url, token, ms: ROUND_MS })
      if (round.failures > 0) throw new Error(`${round.failures} requests failed`)
      if (!isWarmUp) times[which]?.push(...round.times)
    }
  }
  return times.map((each) => percentile(each, 99)) as [number, number]
}

/** Opens connections and leaves them open. @returns the memory of each in bytes, and their CPU in percent of a core */
async function hold (measured: Measured, tokens: (string | undefined)[]) {
  // Counted from the first connections on, so that the code that opens them is not counted as their memory.
  const first = await openMany(measured.url, tokens.slice(0, WARM_UP))
  await sleep(2_000)
  const bytesBefore = await measured.memory()
  const others = await openMany(measured.url, tokens.slice(WARM_UP))
  await sleep(2_000)
  const sockets = [...first.sockets, ...others.sockets]
  const bytes = (await measured.memory() - bytesBefore) / others.sockets.length
  const cpuBefore = await measured.cpuMs()
  await sleep(SECONDS * 1_000)
  return { sockets, bytes, share: (await measured.cpuMs() - cpuBefore) / (SECONDS * 10) }
}
