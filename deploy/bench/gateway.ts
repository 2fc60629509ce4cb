import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { reportGoals } from '@tandem/test-kit/goals'
import { cpuTime } from './cpu.ts'
import { startProxies, type Proxy } from './proxies/proxies.ts'
import { START_SETTLE_MS } from './stack.ts'
import { median } from './table.ts'
import { withTeardown } from './teardown.ts'

// Measures CPU time per request, which varies less than throughput: of the gateway with its default settings and of
// other proxies in front of the same upstream. Rounds alternate between them. They count requests and not seconds: on a
// busy machine, seconds would measure code that is not yet compiled. V8 discards code of a process that waits for its
// turn, so each round begins with a warm-up.
const ROUNDS = 5
const FIRST_WARM_UP_REQUESTS = 150_000
const WARM_UP_REQUESTS = 40_000
const REQUESTS = 15_000
const CONNECTIONS = 32

await withTeardown(async (t) => {
  const { proxies, authorization } = await startProxies(t)
  await sleep(START_SETTLE_MS)
  const rounds = new Map(proxies.map(({ name }) => [name, [] as number[]]))
  for (const proxy of proxies) await measure(proxy, authorization, FIRST_WARM_UP_REQUESTS)
  for (let round = 0; round < ROUNDS; round++) {
    for (const proxy of proxies) {
      await measure(proxy, authorization, WARM_UP_REQUESTS)
      rounds.get(proxy.name)?.push(await measure(proxy, authorization, REQUESTS))
    }
  }
  const figures = new Map([...rounds].map(([name, each]) => [name, median(each)]))
  for (const [name, figure] of figures) console.log(`${name.padEnd(24)} ${figure.toFixed(1)} µs of CPU per request`)

  const gateway = figures.get('gateway') ?? Number.NaN
  const times = (name: string) => gateway / (figures.get(name) ?? Number.NaN)
  reportGoals([
    { name: 'gateway', reference: 'prototype on Fastify, without features', figure: times('prototype'), atMost: 1.15 },
    { name: 'stock plugins', reference: 'gateway', figure: 1 / times('stock plugins'), atLeast: 1.8 },
    { name: 'Caddy, plain proxy', reference: 'gateway', figure: 1 / times('Caddy'), atLeast: 1.5 },
    { name: 'gateway', reference: 'nginx, plain proxy', figure: times('nginx') },
    { name: 'prototype', reference: 'nginx, plain proxy', figure: times('nginx') / times('prototype') },
    {
      name: 'gateway with a log line for each request',
      reference: 'prototype on Fastify, without features',
      figure: (figures.get('gateway, all log lines') ?? Number.NaN) / (figures.get('prototype') ?? Number.NaN)
    }
  ])
})

/** CPU time per request, in microseconds. */
async function measure ({ name, url, pid }: Proxy, authorization: string, amount: number) {
  const before = await cpuTime(pid)
  const { non2xx, errors, requests, statusCodeStats } = await autocannon({
    url: `${url}/auth/sessions`,
    headers: { authorization },
    connections: CONNECTIONS,
    amount
  })
  if (non2xx + errors > 0) {
    throw new Error(`${name}: ${non2xx + errors} requests failed: ${JSON.stringify(statusCodeStats)}`)
  }
  return (await cpuTime(pid) - before) / requests.total
}
