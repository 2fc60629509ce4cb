import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attacks } from './attacker.ts'
import { becomeMember, call, type Member } from './people.ts'
import { noisyPng, pictureForm, type Upload } from './pictures.ts'
import { withStack, type Stack } from './stack.ts'
import { percentile } from './table.ts'

// Six people use the app while another account attacks it, one attack after the other. Limits are the default ones,
// except those of signing in, because all six have one address.
const SECONDS = 15
const NAMES = ['ana', 'ben', 'cem', 'dia', 'eli', 'fay']
const PAUSE_MS = 60
/** How much slower the slowest hundredth of their requests may become. */
const MOST_TIMES_QUIET = 2

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

  await measure(stack, people) // Warms up every route.
  const quiet = await measure(stack, people)
  report('quiet', quiet)
  for (const attack of Object.keys(attacks)) {
    const stop = startAttack(stack, attacker, attack)
    await sleep(4_000) // Images have to be made, and queues to fill.
    const samples = await measure(stack, people)
    report(attack, samples, p99(quiet), await stop())
  }
  report('quiet again', await measure(stack, people), p99(quiet))
  // Other measurements run without these limits.
}, { FLOOD_LIMIT: '6000/1m', LIMIT_WRITES: '300/1m', LIMIT_COMMENTS: '60/1m', LIMIT_FOLLOWS: '120/1m' })

/** What an app does all day, in equal parts, by each of `people`. */
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

/** Goes on with the new session, since the oldest ends when there are too many. */
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

function report (phase: string, samples: Sample[], quiet?: number, answers?: string) {
  const refused = samples.filter(({ status }) => status >= 400)
  const times = quiet && p99(samples) / quiet
  console.log(
    `\n${phase}: ${samples.length} requests, p50 ${ms(percentile(samples.map((sample) => sample.ms), 50))}, p99 ${
      ms(p99(samples))
    }` +
      `${times ? ` (${times.toFixed(2)} times quiet)` : ''}, ${refused.length} refused${
        answers ? `; the attacker got ${answers}` : ''
      }`
  )
  for (const [kind, group] of Object.entries(Object.groupBy(samples, (sample) => sample.kind))) {
    if (!group) continue
    const statuses = [...new Set(group.map(({ status }) => status))].toSorted((a, b) => a - b).join(' ')
    console.log(
      `  ${kind.padEnd(18)} p50 ${ms(percentile(group.map((sample) => sample.ms), 50))}, p99 ${
        ms(p99(group))
      }, ${statuses}`
    )
  }
  if (refused.length > 0 || (times && times > MOST_TIMES_QUIET)) process.exitCode = 1
}

function ms (figure: number) {
  return `${Math.round(figure)} ms`.padStart(7)
}

/** @returns what ends it, and says how often the attacker got which status (0: no answer) */
function startAttack ({ gateway }: Stack, { accessToken }: Member, attack: string) {
  const attacker = fork(path.join(import.meta.dirname, 'attacker.ts'), [attack], {
    env: { ...process.env, GATEWAY_URL: gateway.url, ACCESS_TOKEN: accessToken },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  let answers = ''
  attacker.stdout?.on('data', (text) => {
    answers += String(text)
  })
  return async () => {
    const ended = once(attacker, 'close')
    attacker.kill('SIGTERM')
    await ended
    return answers
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
