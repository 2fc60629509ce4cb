import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startNats, startRedis, type SharedTestServer } from '@tandem/test-kit'
import { call } from '../kit/call.ts'
import { becomeMember, type Member } from '../kit/people.ts'
import { urlOfSchema, withStack, type Stack } from '../kit/stack.ts'
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

/** The key that signed a token, as after a leak: replaced, and deleted once identity signs with the next one. */
async function replaceKey (stack: Stack, [{ accessToken, email, password }]: readonly [Device, Device]) {
  const environment = await readFile(`/proc/${stack.services['identity']!.pid}/environ`, 'utf8')
  const secret = environment.split('\0').find((variable) => variable.startsWith('SECRET='))?.slice('SECRET='.length)
  const cli = ['services/identity/operator/cli.ts', 'keys', 'replace']
  await promisify(execFile)(process.execPath, cli, {
    env: { ...process.env, DATABASE_URL: urlOfSchema(stack, 'identity'), SECRET: secret }
  })
  let token = accessToken
  while (keyOf(token) === keyOf(accessToken)) {
    await sleep(2_000)
    token = (await signIn(stack, { accessToken, email, password })).accessToken
  }
  const client = new Client({ connectionString: stack.postgres.url })
  await client.connect()
  await client.query('delete from identity.signing_keys where kid = $1', [keyOf(accessToken)])
  await client.end()
  // The gateway reads the keys when it sees one that it does not know. From then on it refuses the old token.
  await call(stack, 'GET', '/auth/me', { token })
  const refused = await fetch(`${stack.gateway.url}/api/mobile/v1/auth/me`, {
    headers: { authorization: `Bearer ${accessToken}` }
  })
  if (refused.status !== 401) throw new Error(`a token of the deleted key was answered with ${refused.status}`)
}

const keyOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid

/** The tokens of reset links, by email address. */
const resets = new Map<string, string>()
const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }

/** Ends sessions in every way, with all servers and without Redis and NATS: how long their connections stay open. */
export async function run () {
  const [nats, redis] = [await startNats(t), await startRedis(t)]
  await withStack(async (stack) => {
    const figures = [
      ...await endAll(stack, { name: 'all servers' }, endings),
      ...await endAll(stack, { name: 'Redis and NATS down', stopped: [redis, nats] }, endings),
      // Last, because it ends every session.
      ...await endAll(stack, { name: 'all servers' }, { 'replaced key': replaceKey })
    ]
    report(figures)
  }, { REDIS_URL: redis.url, NATS_URL: nats.url, LIMIT_PROFILE: 'relaxed' })
  for (const cleanup of cleanups.reverse()) await cleanup()
}

interface Circumstances {
  name: string
  stopped?: SharedTestServer[]
}

async function endAll (
  stack: Stack,
  { name: circumstances, stopped = [] }: Circumstances,
  ways: Record<string, Ending>
): Promise<Figure[]> {
  const prepared = []
  for (const [name, end] of Object.entries(ways)) {
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
