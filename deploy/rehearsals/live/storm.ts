import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../kit/percentile.ts'
import { openMany, openOne, startServices, stopAll } from './processes.ts'
import { report } from './report.ts'
import { measureRequests } from './requests.ts'

const CONNECTIONS = 5_000
const MAX_SECONDS = 60

/** Kills the gateway that holds all connections: the clients come back to another one, with back-off. */
export async function run () {
  const services = await startServices()
  const [killed, other] = [await services.startGateway(), await services.startGateway()]
  const tokens = await services.order<string[]>({ type: 'tokens', count: CONNECTIONS })
  const sockets = await openMany(killed.url, tokens)
  let back = 0
  let lastAt = 0
  const requests = measureRequests([other.url], tokens[0]!)
  const startedAt = performance.now()
  const returning = sockets.map((socket, number) =>
    new Promise<void>((resolve) => {
      socket.once('close', () => {
        void (async () => {
          // As clients do: a random time up to 1, 2, 4 … seconds.
          for (let attempt = 0; performance.now() - startedAt < MAX_SECONDS * 1_000; attempt++) {
            await sleep(Math.random() * Math.min(30_000, 1_000 * 2 ** attempt))
            if (await openOne(other.url, tokens[number]!).then(() => true, () => false)) {
              back++
              lastAt = performance.now()
              break
            }
          }
          resolve()
        })()
      })
    })
  )
  process.kill(killed.pid, 'SIGKILL')
  await Promise.all(returning)
  const { times, failures } = await requests()
  console.log(`${CONNECTIONS} connections of a killed gateway`)
  report([
    { what: 'connections that did not come back', figure: CONNECTIONS - back, unit: '', atMost: 0 },
    { what: 'time until all are back', figure: (lastAt - startedAt) / 1_000, unit: 's', atMost: 45 },
    { what: 'failed requests at the other gateway', figure: failures, unit: '', atMost: 0 },
    { what: 'p99 of requests at the other gateway', figure: percentile(times, 99), unit: 'ms', atMost: 250 }
  ])
  await stopAll()
}
