// Six people use the app while another account attacks it, one attack after the other; none of their requests may fail or become slow.
// Limits are the default ones, except those of signing in, because all six have one address.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attacks } from './attacker.ts'
import { call } from '../kit/call.ts'
import { becomeMember, type Member } from '../kit/people.ts'
import { noisyPng, pictureForm, type Upload } from '../kit/pictures.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { percentile } from '../kit/percentile.ts'

const SECONDS = 15
const NAMES = ['ana', 'ben', 'cem', 'dia', 'eli', 'fay']
const PAUSE_MS = 60
/** How many times as long the 99th percentile may be during an attack. */
const MAX_SLOWDOWN = 2

interface Sample {
  kind: string
  ms: number
  status: number
}

await withStack(async (stack) => {
  const attacker = await becomeMember(stack, 'eve@example.com')
  const people = await Promise.all(NAMES.map(async (name) => await becomeMember(stack, `${name}@example.com`)))
  for (const member of [attacker, ...people]) await joinFitMatch(stack, member)
  await Promise.all(
    people.flatMap(({ accessToken: token }) =>
      Array.from(
        { length: 10 },
        async (_, number) =>
          await call(stack, 'POST', '/feed', { token, body: { type: 'TEXT', content: `Run ${number}` } })
      )
    )
  )

  // Warms up every route. After a shorter warm-up the quiet figure is still too slow.
  for (let round = 0; round < 3; round++) await measure(stack, people)
  const before = await measure(stack, people)
  const underAttack: { attack: string, samples: Sample[], received: string }[] = []
  for (const attack of Object.keys(attacks)) {
    const stop = startAttack(stack, attacker, attack)
    await sleep(4_000) // Images have to be made, and queues to fill.
    const samples = await measure(stack, people)
    underAttack.push({ attack, samples, received: await stop() })
  }
  // The quiet times before and after together, because two of them differ by half.
  const quiet = [...before, ...await measure(stack, people)]
  report('quiet', quiet)
  for (const { attack, samples, received } of underAttack) report(attack, samples, p99(quiet), received)
  // The defaults; withStack turns them off.
}, { FLOOD_LIMIT: '6000/1m', LIMIT_WRITES: '300/1m', LIMIT_COMMENTS: '60/1m', LIMIT_FOLLOWS: '120/1m' })

/** Sends the usual requests of an app, each kind equally often, from each of `people`. */
async function measure (stack: Stack, people: Member[]) {
  const picture = pictureForm(await noisyPng(56, 56))
  const kinds: Record<string, (member: Member) => Promise<number>> = {
    'home': async (member) => await request(stack, member, 'GET', '/dashboard/home'),
    'trending': async (member) => await request(stack, member, 'GET', '/feed?feedType=trending'),
    'FitMatch profile': async (member) => await request(stack, member, 'GET', '/fitmatch/profile'),
    'discover': async (member) => await request(stack, member, 'GET', '/fitmatch/discover'),
    'me': async (member) => await request(stack, member, 'GET', '/auth/me'),
    'sign-in': async (member) => await signIn(stack, member),
    'picture': async (member) => await request(stack, member, 'POST', '/media', { form: picture })
  }
  const samples: Sample[] = []
  const until = performance.now() + SECONDS * 1_000
  await Promise.all(people.map(async (member, start) => {
    for (let turn = start; performance.now() < until; turn++) {
      const [kind, send] = Object.entries(kinds)[turn % Object.keys(kinds).length]!
      const since = performance.now()
      const status = await send(member)
      samples.push({ kind, status, ms: performance.now() - since })
      await sleep(PAUSE_MS)
    }
  }))
  return samples
}

/** Signs in and continues with the new session, because the oldest one ends when there are too many. */
async function signIn ({ gateway }: Stack, member: Member) {
  const response = await fetch(`${gateway.url}/api/mobile/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: member.email, password: member.password })
  })
  const { accessToken } = await response.json() as { accessToken?: string }
  if (accessToken) member.accessToken = accessToken
  return response.status
}

async function request (
  { gateway }: Stack,
  { accessToken }: Member,
  method: string,
  route: string,
  { json, form }: { json?: object, form?: Upload } = {}
) {
  const response = await fetch(`${gateway.url}/api/mobile/v1${route}`, {
    method,
    headers: {
      authorization: `Bearer ${accessToken}`,
      ...(json && { 'content-type': 'application/json' }),
      ...form?.headers
    },
    ...(json && { body: JSON.stringify(json) }),
    ...(form && { body: form.body })
  })
  await response.arrayBuffer()
  return response.status
}

function p99 (samples: Sample[]) {
  return percentile(samples.map(({ ms }) => ms), 99)
}

function report (phase: string, samples: Sample[], quietP99?: number, attackerStatuses?: string) {
  const failed = samples.filter(({ status }) => status >= 400)
  const slowdown = quietP99 && p99(samples) / quietP99
  const figures = [
    `${samples.length} requests`,
    summarize(samples) + (slowdown ? ` (${slowdown.toFixed(2)} times quiet)` : ''),
    `${failed.length} failed`
  ]
  if (attackerStatuses) figures.push(`the attacker received ${attackerStatuses}`)
  console.log(`\n${phase}: ${figures.join(', ')}`)
  for (const [kind, group = []] of Object.entries(Object.groupBy(samples, (sample) => sample.kind))) {
    const statuses = [...new Set(group.map(({ status }) => status))].toSorted((a, b) => a - b).join(' ')
    console.log(`  ${kind.padEnd(18)} ${summarize(group)}, ${statuses}`)
  }
  if (failed.length > 0 || (slowdown && slowdown > MAX_SLOWDOWN)) process.exitCode = 1
}

function summarize (samples: Sample[]) {
  return `p50 ${ms(percentile(samples.map((sample) => sample.ms), 50))}, p99 ${ms(p99(samples))}`
}

function ms (figure: number) {
  return `${Math.round(figure)} ms`.padStart(7)
}

/** @returns a function that ends the attack and returns how often each status was received (0: no response) */
function startAttack ({ gateway }: Stack, { accessToken }: Member, attack: string) {
  const attacker = fork(path.join(import.meta.dirname, 'attacker.ts'), [attack], {
    env: { ...process.env, GATEWAY_URL: gateway.url, ACCESS_TOKEN: accessToken },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  let statuses = ''
  attacker.stdout?.on('data', (text) => {
    statuses += String(text)
  })
  return async () => {
    const ended = once(attacker, 'close')
    attacker.kill('SIGTERM')
    await ended
    return statuses
  }
}

async function joinFitMatch (stack: Stack, { email, accessToken }: Member) {
  await call(stack, 'POST', '/fitmatch/profile', {
    token: accessToken,
    body: {
      displayName: email.split('@')[0],
      birthDate: '1996-04-12',
      gender: 'FEMALE',
      lookingFor: ['MALE', 'FEMALE'],
      ageMin: 20,
      ageMax: 40,
      maxDistance: 50,
      city: 'Jakarta'
    }
  })
  await call(stack, 'PUT', '/fitmatch/profile', { token: accessToken, body: { latitude: -6.21, longitude: 106.85 } })
  const photo = pictureForm(await noisyPng(64, 64))
  for (let count = 0; count < 2; count++) {
    await request(stack, { email, password: '', accessToken }, 'POST', '/fitmatch/photos', { form: photo })
  }
}
