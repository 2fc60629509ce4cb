// Offers the mix of requests of an app, and prints how long people wait and how much CPU each request costs in each
// process: `npm run rehearse mix -- 40 60 80`, in requests a second. `--only like,comment` offers those alone. Forty
// people use the app among 5,000 others who wrote 20,000 posts. It is an open loop: a request is sent when it is due,
// however many wait, and its time counts from then. The sender uses the same processors; its CPU is printed, too. Compare
// figures of one run only: between runs CPU differs by a tenth and p99 by a third.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuTimeWithChildren } from '../kit/cpu.ts'
import { pace } from '../kit/pace.ts'
import { percentile } from '../kit/percentile.ts'
import { START_SETTLE_MS, withStack, type Stack } from '../kit/stack.ts'
import { any, inMix, mix, turnsOf } from './requests.ts'
import { dispatcher, send } from './send.ts'
import { fillWorld, type World } from './world.ts'

const WARM_UP_SECONDS = 5
const SECONDS = 20
const REST_MS = 2_000

interface Sample {
  name: string
  status: number
  ms: number
}

const { values: { only }, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } })
const rates = (positionals.length > 0 ? positionals : ['60']).map(Number)
const offered = only?.split(',') ?? inMix
const unknown = offered.filter((name) => !Object.hasOwn(mix, name))
if (unknown.length > 0 || rates.some((rate) => !(rate > 0))) {
  throw new Error(`rates are numbers, and --only takes ${Object.keys(mix).join(',')}`)
}
const turns = turnsOf(offered)

await withStack(async (stack) => {
  const world = await fillWorld(stack)
  await sleep(START_SETTLE_MS)
  for (const rate of rates) {
    await offer(stack, world, rate, WARM_UP_SECONDS)
    const before = await readCpu(stack)
    const since = performance.now()
    const samples = await offer(stack, world, rate, SECONDS)
    report(rate, samples, performance.now() - since, perRequest(before, await readCpu(stack), samples.length))
    await sleep(REST_MS)
  }
}, { LIMIT_PROFILE: 'relaxed' })
await dispatcher.close()

async function offer ({ gateway }: Stack, world: World, perSecond: number, seconds: number) {
  return await pace({ count: perSecond * seconds, perSecond }, async (_turn, dueAt): Promise<Sample> => {
    const name = any(turns)
    const { status } = await send(gateway.url, mix[name]![1](world))
    return { name, status, ms: performance.now() - dueAt }
  })
}

/** The CPU that each process has used, in microseconds. */
async function readCpu ({ gateway, services, postgres, redis, nats }: Stack) {
  const processes = { gateway, ...services, postgres, redis, nats, 'this sender': { pid: process.pid } }
  return new Map(
    await Promise.all(
      Object.entries(processes).map(async ([name, { pid }]) => [name, await cpuTimeWithChildren(pid ?? 0)] as const)
    )
  )
}

/** In milliseconds. */
function perRequest (before: Map<string, number>, after: Map<string, number>, requests: number) {
  return [...after].map(([name, micros]) => [name, (micros - before.get(name)!) / 1_000 / requests] as const)
}

function report (rate: number, samples: Sample[], elapsedMs: number, cpu: (readonly [name: string, ms: number])[]) {
  const failed = samples.filter(({ status }) => status === 0 || status >= 400)
  const system = cpu.filter(([name]) => name !== 'this sender').reduce((sum, [, ms]) => sum + ms, 0)
  console.log(
    `\n${rate} a second: ${(samples.length / elapsedMs * 1_000).toFixed(0)} answered a second, ${waits(samples)}, ` +
      `${failed.length} of ${samples.length} failed, ${system.toFixed(1)} ms of CPU a request`
  )
  console.log(`  ${cpu.map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(', ')}`)
  for (const [name, group = []] of Object.entries(Object.groupBy(samples, (sample) => sample.name))) {
    const statuses = Object.entries(Object.groupBy(group, ({ status }) => status))
      .map(([status, { length = 0 } = []]) => `${status}: ${length}`)
    console.log(`  ${name.padEnd(14)} ${waits(group)}, ${statuses.join(', ')}`)
  }
}

function waits (samples: Sample[]) {
  const times = samples.map(({ ms }) => ms)
  return `p50 ${Math.round(percentile(times, 50))} ms, p99 ${Math.round(percentile(times, 99))} ms`
}
