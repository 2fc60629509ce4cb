// Offers the mix of requests of an app for half an hour while each process is killed once: `npm run rehearse soak -- 60`,
// in requests a second; `--minutes 5` makes it shorter. As apps do, it repeats a 503 and a broken connection, writes with
// the same key. It fails if a request is not served in the end, if what was written is missing or there twice, or if the
// memory of a process grows, which shorter ones than 18 minutes only print.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { serviceNames } from '../../gateway/routes.ts'
import { residentBytes } from './kit/cpu.ts'
import { killIfRunning } from './kit/kills.ts'
import { pace } from './kit/pace.ts'
import { call } from './kit/call.ts'
import { percentile } from './kit/percentile.ts'
import { readStack, START_SETTLE_MS, withStack, type Stack } from './kit/stack.ts'
import { any, inMix, mix, turnsOf } from './mix/requests.ts'
import { dispatcher, send } from './mix/send.ts'
import { fillWorld, type World } from './mix/world.ts'

const PAUSE_MS = 300
const GIVE_UP_AFTER_MS = 60_000
// An access token is valid for a quarter of an hour.
const RENEW_TOKENS_MS = 300_000
// Caches and the compiler have settled by then.
const WARM_UP_MS = 120_000
const MAX_GROWTH = 0.05
const WATCH_INTERVAL_MS = 500
const MEBIBYTE = 1024 * 1024

interface Served {
  name: string
  status: number
  /** From when it was due until it was served. */
  ms: number
  repeats: number[]
  content: string | undefined
}

const { values, positionals: [rate = '60'] } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '30' } }
})
const perSecond = Number(rate)
const totalMs = Number(values.minutes) * 60_000
if (!(perSecond > 0 && totalMs > 0)) throw new Error('the rate and the minutes are numbers')
const turns = turnsOf(inMix)

await withStack(async (stack, dataDir) => {
  const world = await fillWorld(stack)
  await sleep(START_SETTLE_MS)
  await offer(stack, world, WARM_UP_MS)
  const renewal = setInterval(() => void renewTokens(stack, world), RENEW_TOKENS_MS)
  const offered = offer(stack, world, totalMs)
  const grown = await killInTurn(dataDir)
  const served = await offered
  clearInterval(renewal)
  report(served)
  const problems = [
    ...served.filter(({ status }) => status >= 400 || status === 0).map(({ name, status }) => `${name} ${status}`),
    ...await findLost(stack, served),
    ...grown
  ]
  console.log(
    problems.length === 0 ? 'nothing failed' : [`${problems.length} problems`, ...problems.slice(0, 20)].join('\n')
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}, { LIMIT_PROFILE: 'relaxed' })
await dispatcher.close()

async function offer ({ gateway }: Stack, world: World, ms: number) {
  return await pace({ count: perSecond * ms / 1_000, perSecond }, async (_turn, dueAt): Promise<Served> => {
    const name = any(turns)
    const call = mix[name]![1](world)
    const key = call.method === 'POST' ? crypto.randomUUID() : undefined
    const repeats: number[] = []
    for (;;) {
      const { status, retryAfterMs } = await send(gateway.url, call, key)
      const elapsedMs = performance.now() - dueAt
      if (![0, 503].includes(status) || elapsedMs > GIVE_UP_AFTER_MS) {
        return {
          name,
          status,
          ms: elapsedMs,
          repeats,
          content: (call.body as { content?: string } | undefined)?.content
        }
      }
      repeats.push(status)
      await sleep(retryAfterMs ?? PAUSE_MS)
    }
  })
}

/** While a process is down, a person keeps the token until the next time. */
async function renewTokens (stack: Stack, { active }: World) {
  for (const person of active) {
    const { email, password } = person
    const signedIn = await call<{ accessToken: string }>(stack, 'POST', '/auth/login', { body: { email, password } })
      .catch(() => undefined)
    if (signedIn) person.token = signedIn.accessToken
  }
}

/** Kills each process once, evenly spread. @returns the processes that have grown since the last kill */
async function killInTurn (dataDir: string) {
  const names = ['gateway', ...serviceNames]
  const pauseMs = totalMs / (names.length + 2)
  const settleMs = Math.min(pauseMs, WARM_UP_MS)
  const watchMs = pauseMs / 8
  for (const name of names) {
    await sleep(pauseMs)
    console.log(`kill -9 ${name} (${await killIfRunning(dataDir, name)})`)
  }
  await sleep(settleMs)
  const before = await readMemory(dataDir, watchMs)
  await sleep(2 * pauseMs - settleMs - 2 * watchMs - 5_000)
  const after = await readMemory(dataDir, watchMs)
  console.log(
    [...after].map(([name, bytes]) => `${name} ${mebibytes(before.get(name)!)} to ${mebibytes(bytes)}`).join(', ')
  )
  // In a short one, the processes are still warming up.
  if (pauseMs < WARM_UP_MS) return []
  return [...after].filter(([name, bytes]) => bytes > (1 + MAX_GROWTH) * before.get(name)!).map(([name]) =>
    `the memory of ${name} has grown`
  )
}

/** The least of each process within this time: between two garbage collections it grows by tens of MiB. */
async function readMemory (dataDir: string, watchMs: number) {
  const { gateway, services } = await readStack(dataDir)
  const least = new Map<string, number>()
  for (const end = Date.now() + watchMs; Date.now() < end; await sleep(WATCH_INTERVAL_MS)) {
    for (const [name, { pid }] of Object.entries({ gateway, ...services })) {
      least.set(name, Math.min(least.get(name) ?? Infinity, await residentBytes(pid!)))
    }
  }
  return least
}

function mebibytes (bytes: number) {
  return `${Math.round(bytes / MEBIBYTE)} MiB`
}

/** What was written and is not there, or is there twice. */
async function findLost ({ postgres }: Stack, served: Served[]) {
  const db = new pg.Client({ connectionString: postgres.url })
  await db.connect()
  const { rows } = await db.query<{ content: string }>(`
    select content from social.posts union all select content from social.comments
    union all select content from fitmatch.messages`)
  await db.end()
  const counts = new Map<string, number>()
  for (const { content } of rows) counts.set(content, (counts.get(content) ?? 0) + 1)
  const written = served.filter(({ status, content }) => content && status > 0 && status < 400)
  console.log(`${written.length} posts, comments and messages were written`)
  return written.map(({ name, content = '' }) => ({ name, content, count: counts.get(content) ?? 0 }))
    .filter(({ count }) => count !== 1).map(({ name, count }) => `a ${name} is there ${count} times`)
}

function report (served: Served[]) {
  const times = served.map(({ ms }) => ms)
  const repeats = served.flatMap((each) => each.repeats)
  console.log(
    `${served.length} requests, p50 ${Math.round(percentile(times, 50))} ms, p99 ${
      Math.round(percentile(times, 99))
    } ms, ` +
      `the longest ${Math.round(percentile(times, 100))} ms; ${
        served.filter((each) => each.repeats.length > 0).length
      } were ` +
      `repeated, after ${repeats.filter((status) => status === 503).length} times 503 and ` +
      `${repeats.filter((status) => status === 0).length} broken connections`
  )
}
