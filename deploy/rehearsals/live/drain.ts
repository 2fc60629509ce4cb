import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../kit/percentile.ts'
import { openOne, startServices, stopAll } from './processes.ts'
import { report } from './report.ts'
import { measureRequests } from './requests.ts'

const CONNECTIONS = 2_000
const DRAIN_SECONDS = 8

/** Stops one of two gateways: its clients move to the other, evenly, and requests go on. */
export async function run () {
  const services = await startServices()
  const first = await services.startGateway({ REALTIME_DRAIN_SECONDS: String(DRAIN_SECONDS) })
  const second = await services.startGateway()
  const tokens = await services.order<string[]>({ type: 'tokens', count: CONNECTIONS })
  const moves = new Map<number, number>()
  let gaps = 0
  let moved = 0
  let startedAt = 0
  async function hold (number: number) {
    const current = await openOne(first.url, tokens[number]!, ({ type, data }) => {
      if (type !== 'reconnect') return
      setTimeout(() => {
        const elapsedSeconds = Math.floor((performance.now() - startedAt) / 1_000)
        moves.set(elapsedSeconds, (moves.get(elapsedSeconds) ?? 0) + 1)
        void openOne(second.url, tokens[number]!).then(() => {
          moved++
          if (current.readyState !== current.OPEN) gaps++
          current.close()
        })
      }, (data as { afterMs: number }).afterMs)
    })
  }
  let next = 0
  await Promise.all(Array.from({ length: 50 }, async () => {
    while (next < CONNECTIONS) await hold(next++)
  }))
  const requests = measureRequests([first.url, second.url], tokens[0]!)
  startedAt = performance.now()
  await first.stop()
  await sleep(1_000)
  const { times, failures } = await requests()
  const even = CONNECTIONS / DRAIN_SECONDS
  console.log(`${CONNECTIONS} connections move over ${DRAIN_SECONDS} s`)
  report([
    { what: 'connections that did not move', figure: CONNECTIONS - moved, unit: '', atMost: 0 },
    { what: 'connections that were closed before the new one opened', figure: gaps, unit: '', atMost: 0 },
    { what: 'failed requests', figure: failures, unit: '', atMost: 0 },
    {
      what: 'most moves in a second',
      figure: Math.max(...moves.values()),
      unit: '',
      atMost: even * 2,
      reference: even
    },
    { what: 'p99 of requests meanwhile', figure: percentile(times, 99), unit: 'ms', atMost: 250 }
  ])
  await stopAll()
}
