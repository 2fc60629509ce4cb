import { setTimeout as sleep } from 'node:timers/promises'
import { startNats, startRedis, type SharedTestServer } from '@tandem/test-kit'
import { becomeMember, call, type Member } from '../people.ts'
import { withStack, type Stack } from '../stack.ts'
import { openOne } from './processes.ts'
import { report, type Figure } from './report.ts'

const MAX_MS = 1_000
const PASSWORD = 'Another-horse-8'

interface Device extends Member {
  refreshToken: string
}

/** Ends the session of the first device. */
type Ending = (stack: Stack, devices: readonly [Device, Device]) => Promise<unknown>

const endings: Record<string, Ending> = {
  'logout': async (stack, [{ accessToken: token }]) => await call(stack, 'POST', '/auth/logout', { token, body: {} }),
  'logout of another device': async (stack, [{ refreshToken }, { accessToken: token }]) =>
    await call(stack, 'POST', '/auth/logout', { token, body: { refreshToken } }),
  'revocation of all other sessions': async (stack, [, { accessToken: token }]) =>
    await call(stack, 'POST', '/auth/sessions', { token, body: { action: 'revoke_all' } }),
  'reset of the password': async (stack, [{ email }]) =>
    await call(stack, 'POST', '/auth/reset-password', { body: { email, token: resets.get(email), password: PASSWORD } })
}

/** The tokens of reset links, by email address. */
const resets = new Map<string, string>()
const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }

/** Ends sessions in every way, with all servers and without Redis and NATS: how long their connections stay open. */
export async function run () {
  const [nats, redis] = [await startNats(t), await startRedis(t)]
  await withStack(async (stack) => {
    const figures = [
      ...await endAll(stack, 'all servers', []),
      ...await endAll(stack, 'Redis and NATS down', [redis, nats])
    ]
    report(figures)
  }, { REDIS_URL: redis.url, NATS_URL: nats.url, LIMIT_PROFILE: 'relaxed' })
  for (const cleanup of cleanups.reverse()) await cleanup()
}

async function endAll (stack: Stack, circumstances: string, stopped: SharedTestServer[]): Promise<Figure[]> {
  const prepared = []
  for (const [name, end] of Object.entries(endings)) {
    const email = `${name}-${circumstances}`.replaceAll(/\W+/g, '-').toLowerCase() + '@example.com'
    const member = await becomeMember(stack, email)
    await requestReset(stack, email)
    prepared.push({ name, end, devices: [await signIn(stack, member), await signIn(stack, member)] as const })
  }
  for (const server of stopped) await server.stop()
  const figures: Figure[] = []
  for (const { name, end, devices } of prepared) {
    const closed = await watchClose(stack, devices[0])
    await end(stack, devices)
    const since = performance.now()
    const { code, at } = await closed()
    if (code !== 4401) throw new Error(`${name}, ${circumstances}: closed with ${code}`)
    figures.push({ what: `${name}, ${circumstances}`, figure: at - since, unit: 'ms', atMost: MAX_MS })
  }
  for (const server of stopped) await server.start()
  return figures
}

async function requestReset (stack: Stack, email: string) {
  await call(stack, 'POST', '/auth/forgot-password', { body: { email } })
  for (;;) {
    const response = await fetch(`${stack.mail.url}/api/mails?to=${encodeURIComponent(email)}`)
    const mails = await response.json() as { text: string }[]
    const token = mails.map(({ text }) => /reset-password#token=([^&\s]+)/.exec(text)?.[1]).find((each) => each)
    if (token !== undefined) return void resets.set(email, decodeURIComponent(token))
    await sleep(50)
  }
}

async function signIn (stack: Stack, { email, password }: Member): Promise<Device> {
  const tokens = await call<Device>(stack, 'POST', '/auth/login', { body: { email, password } })
  return { ...tokens, email, password }
}

/** Connects a device. The result waits for the close code of its connection, and for the time of the close. */
async function watchClose ({ gateway }: Stack, { accessToken }: Device) {
  const socket = await openOne(gateway.url, accessToken)
  const closed = new Promise<{ code: number, at: number }>((resolve) =>
    socket.once('close', (code) => resolve({ code, at: performance.now() }))
  )
  return async () => await closed
}
