// Shows how much is served when there is too much to do. From the first moment after the start, 24 clients register,
// read themselves, post and read the feed, one request after the other and without a pause: first alone, then beside
// four processes that use all CPU they get, then two seconds after those have ended. Then a mixed load rises up to its
// knee, the highest rate of which 99 % are served within KNEE_MS, and doubles. What a client gets is served if it is no
// error and comes within 3 s. The clients use the same processors, and a client that is refused tries something else at
// once, which is worse than what apps do.
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { withStack, type Stack } from './kit/stack.ts'
import { pace } from './kit/pace.ts'
import { percentile } from './kit/percentile.ts'

const CLIENTS = 24
const SECONDS = 15
const NEIGHBOURS = 4
const RECOVERY_MS = 2_000
const MAX_WAIT_MS = 3_000
const KNEE_MS = 150
const STEP_SECONDS = 6
// Long enough for what waits to pile up.
const OVERLOAD_SECONDS = 20
const FIRST_RATE = 50

interface Sample {
  route: string
  status: number
  ms: number
}

type Send = (method: string, route: string, token?: string, body?: object) => Promise<{ status: number, text: string }>

const agent = new Agent({ connections: 1_000, headersTimeout: 30_000, bodyTimeout: 30_000 })

await withStack(async (stack) => {
  const tokens: string[] = []
  report('alone, after the start', await runClients(stack, tokens), 99)

  const neighbours = Array.from(
    { length: NEIGHBOURS },
    // Detached, so that a system that shares its time between sessions gives each as much as a process of ours.
    () =>
      spawn(process.execPath, ['-e', 'const end = Date.now() + 60_000; while (Date.now() < end);'], {
        stdio: 'ignore',
        detached: true
      })
  )
  try {
    report(`beside ${NEIGHBOURS} busy processes`, await runClients(stack, tokens), 95)
  } finally {
    for (const neighbour of neighbours) neighbour.kill('SIGKILL')
  }
  await sleep(RECOVERY_MS)
  report('two seconds after they ended', await runClients(stack, tokens), 100)

  const knee = await findKnee(stack, tokens)
  const doubled = await offer(stack, tokens, knee * 2, OVERLOAD_SECONDS)
  const ratio = 100 * served(doubled).length / OVERLOAD_SECONDS / knee
  report(`${knee * 2} a second, twice the knee`, doubled)
  check(`of the knee of ${knee} a second`, ratio, 80)
}, { LIMIT_PROFILE: 'relaxed' })

/** Lets all clients send one request after the other. Adds the access tokens of new accounts to `tokens`. */
async function runClients (stack: Stack, tokens: string[]) {
  const samples: Sample[] = []
  const send = createSend(stack, samples)
  const until = performance.now() + SECONDS * 1_000
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (performance.now() < until) {
      const email = `${crypto.randomUUID()}@example.com`
      const { status, text } = await send('POST', '/auth/register', undefined, { email, password: 'Correct-horse-7' })
      if (status !== 201) continue
      const { accessToken } = JSON.parse(text) as { accessToken: string }
      tokens.push(accessToken)
      await send('GET', '/auth/me', accessToken)
      await send('POST', '/feed', accessToken, { type: 'TEXT', content: 'Five kilometres before breakfast' })
      await send('GET', '/feed', accessToken)
    }
  }))
  return samples
}

/** The highest rate of a mixed load that is served in time, in requests a second. */
async function findKnee (stack: Stack, tokens: string[]) {
  let knee = FIRST_RATE
  for (let rate = FIRST_RATE;; rate = Math.ceil(rate * 1.4)) {
    const samples = await offer(stack, tokens, rate, STEP_SECONDS)
    report(`${rate} a second`, samples)
    if (served(samples).length < samples.length * 0.99 || p99(samples) > KNEE_MS) return knee
    knee = rate
  }
}

async function offer (stack: Stack, tokens: string[], rate: number, seconds: number) {
  const samples: Sample[] = []
  const send = createSend(stack, samples)
  const kinds: ((token: string) => Promise<unknown>)[] = [
    async (token) => await send('GET', '/feed', token),
    async (token) => await send('GET', '/dashboard/home', token),
    async (token) => await send('GET', '/feed', token),
    async (token) => await send('GET', '/auth/me', token),
    async (token) => await send('POST', '/feed', token, { type: 'TEXT', content: 'Intervals at lunch' }),
    async (token) => await send('GET', '/notifications', token)
  ]
  await pace(
    { count: rate * seconds, perSecond: rate },
    async (turn) => await kinds[turn % kinds.length]!(tokens[turn % tokens.length]!)
  )
  return samples
}

/** Returns a function that sends one request and adds a sample of it; the status is 0 if there was no response. */
function createSend ({ gateway }: Stack, samples: Sample[]): Send {
  return async (method, route, token, body) => {
    const since = performance.now()
    const add = (status: number) => samples.push({ route: `${method} ${route}`, status, ms: performance.now() - since })
    try {
      const response = await request(`${gateway.url}/api/mobile/v1${route}`, {
        method,
        dispatcher: agent,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' })
        },
        ...(body && { body: JSON.stringify(body) })
      })
      const text = await response.body.text()
      add(response.statusCode)
      return { status: response.statusCode, text }
    } catch {
      add(0)
      return { status: 0, text: '' }
    }
  }
}

function served (samples: Sample[]) {
  return samples.filter(({ status, ms }) => status >= 200 && status < 400 && ms <= MAX_WAIT_MS)
}

function p99 (samples: Sample[]) {
  return percentile(samples.map(({ ms }) => ms), 99)
}

/** Prints figures, and what was not served. With a goal, it must be met. */
function report (phase: string, samples: Sample[], goalPercent?: number) {
  const times = samples.map(({ ms }) => ms)
  console.log(
    `\n${phase}: ${served(samples).length} of ${samples.length} requests served, p50 ${
      Math.round(percentile(times, 50))
    } ms, p99 ${Math.round(p99(samples))} ms`
  )
  const failures = samples.filter((sample) => served([sample]).length === 0)
  const kinds = Object.groupBy(
    failures,
    ({ route, status }) => `${route} ${status < 400 && status > 0 ? 'late' : status}`
  )
  for (const [kind, { length = 0 } = []] of Object.entries(kinds)) console.log(`  ${kind}: ${length}`)
  if (goalPercent !== undefined) check('served', 100 * served(samples).length / samples.length, goalPercent)
}

function check (what: string, percent: number, goalPercent: number) {
  const isMet = percent >= goalPercent
  console.log(`  ${isMet ? '✓' : '✗'} ${percent.toFixed(1)} % ${what}; the goal is ${goalPercent} %`)
  if (!isMet) process.exitCode = 1
}
