import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../table.ts'
import { measureRequests, openMany, startBare, startGateway, stopAll } from './processes.ts'
import { report } from './report.ts'

const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 10_000)
const SECONDS = 25

/** Holds connections on which nothing happens: what they cost in memory and CPU, and what requests feel of them. */
export async function run () {
  const [gateway, bare] = [await startGateway(), await startBare()]
  const tokens = await gateway.order<string[]>({ type: 'tokens', count: CONNECTIONS })
  // Warm, so that the code that opens connections is not counted as their memory.
  for (const { url } of [gateway]) for (const each of (await openMany(url, tokens.slice(0, 200))).sockets) each.close()
  for (const each of (await openMany(bare.url, Array.from({ length: 200 }))).sockets) each.close()
  await sleep(1_000)
  const requestsAlone = measureRequests(gateway.url, tokens[0]!)
  await sleep(5_000)
  const alone = percentile((await requestsAlone()).times, 99)

  const [bareBefore, gatewayBefore] = [await bare.memory(), await gateway.memory()]
  await openMany(bare.url, Array.from({ length: CONNECTIONS }))
  const bareBytes = (await bare.memory() - bareBefore) / CONNECTIONS
  await openMany(gateway.url, tokens)
  await sleep(2_000)
  const bytes = (await gateway.memory() - gatewayBefore) / CONNECTIONS

  const [cpuBefore, bareCpuBefore] = [await gateway.cpuMs(), await bare.cpuMs()]
  await sleep(SECONDS * 1_000)
  const idleShare = (await gateway.cpuMs() - cpuBefore) / (SECONDS * 10)
  const bareShare = (await bare.cpuMs() - bareCpuBefore) / (SECONDS * 10)
  const requests = measureRequests(gateway.url, tokens[0]!)
  await sleep(5_000)
  const busy = percentile((await requests()).times, 99)
  console.log(`${CONNECTIONS} idle connections`)
  report([
    { what: 'memory of a connection, times bare ws', figure: bytes / bareBytes, unit: 'x', atMost: 1.5, reference: 1 },
    { what: 'memory of a connection', figure: bytes / 1_024, unit: 'KiB', atMost: 24, reference: bareBytes / 1_024 },
    { what: 'CPU, fake services included', figure: idleShare, unit: '% of a core', atMost: 3, reference: bareShare },
    { what: 'p99 of requests, times without connections', figure: busy / alone, unit: 'x', atMost: 1.1, reference: 1 }
  ])
  await stopAll()
}
