// Waiting: it runs two of every process, and replaces each.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBundles } from '@tandem/bundle/cached.ts'
import { listMains } from '@tandem/bundle/mains.ts'
import { testDatabase } from '@tandem/database-kit/testing'
import { startMail, startProcess, startRedis, until } from '@tandem/test-kit'
import t, { type Test } from 'tap'
import { serviceNames as services } from '../../gateway/routes.ts'
import { startSystemNats } from '../nats/testing.ts'
import { startBalancer, type Balancer } from './balancer.ts'
import { createEnvironment } from './environment.ts'

const root = path.resolve(import.meta.dirname, '../..')
const REPLICAS = 2
const REQUESTS_PER_SECOND = 20
// A cluster removes the endpoint of a pod within about a second, and the pod waits for that. Here, both are
// shorter.
const ENDPOINT_REMOVAL_MS = 300
const PAUSE_BEFORE_END = 1_000

interface Deployment {
  name: string
  balancer: Balancer
  replicas: Awaited<ReturnType<typeof startProcess>>[]
}

async function startCluster (t: Test) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-rollout-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [nats, redis, mail] = [await startSystemNats(t), await startRedis(t), await startMail(t)]
  const balancers = new Map<string, Balancer>()
  for (const name of [...services, 'gateway']) balancers.set(name, await startBalancer(t))
  const publicUrl = balancers.get('gateway')!.url
  const environment = {
    ...createEnvironment({
      folder,
      redisUrl: redis.url,
      smtpUrl: mail.smtpUrl,
      publicUrl,
      serviceUrls: services.map((name) => [name, balancers.get(name)!.url])
    }),
    LIMIT_AUTH_REGISTER: 'off',
    // Two people make the load of many.
    FLOOD_LIMIT: 'off',
    LIMIT_WRITES: 'off',
    LIMIT_POSTS: 'off',
    LIMIT_COMMENTS: 'off',
    LIMIT_FOLLOWS: 'off'
  }
  // As images do. Sources take twice the CPU to start, and here the other processes would miss it.
  const bundles = await openBundles(root, listMains(root))
  const deployments: Deployment[] = []
  for (const [name, balancer] of balancers) {
    const database = name === 'gateway'
      ? undefined
      : await testDatabase(t, path.join(root, 'services', name))
    const script = path.join(bundles, `${name}.mjs`)
    const replicas = await Promise.all(
      Array.from(
        { length: REPLICAS },
        async () =>
          await startProcess(t, script, { ...environment, NATS_URL: nats.urlOf(name), DATABASE_URL: database?.url })
      )
    )
    for (const { port } of replicas) balancer.endpoints.add(port)
    deployments.push({ name, balancer, replicas })
  }
  return { deployments, url: `${publicUrl}/api/mobile/v1` }
}

/** Replaces the processes of a deployment one after the other, as a roll-out of it would. */
async function rollOut ({ balancer, replicas }: Deployment) {
  for (const replica of replicas) {
    const { port } = replica
    await Promise.all([
      sleep(ENDPOINT_REMOVAL_MS).then(() => balancer.endpoints.delete(port)),
      sleep(PAUSE_BEFORE_END).then(async () => await replica.stop())
    ])
    await replica.start()
    balancer.endpoints.add(replica.port)
  }
}

/** The lines in the logs of all processes that have one of these texts, such as the id of a request. */
async function readLines (deployments: Deployment[], texts: string[]) {
  const logs = await Promise.all(deployments.flatMap(({ replicas }) => replicas.map((each) => each.readLog())))
  return logs.join('').split('\n').filter((line) => texts.some((text) => line.includes(text)))
}

function createClient (url: string) {
  const failures: string[] = []
  const failedIds: string[] = []
  const repeated: string[] = []
  async function call (method: string, route: string, { token, body }: { token?: string, body?: object } = {}) {
    const init = {
      method,
      headers: {
        'idempotency-key': randomUUID(),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' })
      },
      ...(body && { body: JSON.stringify(body) })
    }
    try {
      let response = await fetch(`${url}${route}`, init)
      if (response.status === 503) {
        // As apps do.
        repeated.push(`${method} ${route}`)
        await response.arrayBuffer()
        await sleep(Number(response.headers.get('retry-after')) * 1_000)
        response = await fetch(`${url}${route}`, init)
      }
      const answer = await response.json() as Answer
      if (!response.ok) {
        failures.push(`${method} ${route}: ${response.status} ${answer.code}`)
        failedIds.push(response.headers.get('x-request-id') ?? route)
      }
      return answer
    } catch (error) {
      failures.push(`${method} ${route}: ${String((error as Error).cause ?? error)}`)
      return {}
    }
  }
  return { call, failures, failedIds, repeated }
}

interface Answer {
  code?: string
  accessToken?: string
  user?: { profile?: { username?: string } }
  data?: {
    matches?: unknown,
    user?: { name?: string },
    post?: { id: string },
    notifications?: { data: { postId: string } }[],
    nextCursor?: string | null
  }
}

t.test('every process is replaced under load, and no request fails', async (t) => {
  const { deployments, url } = await startCluster(t)
  const { call, failures, failedIds, repeated } = createClient(url)
  const register = async (name: string) =>
    (await call('POST', '/auth/register', { body: { email: `${name}@example.com`, name } })).accessToken ?? ''
  const [ana, ben] = [await register('ana'), await register('ben')]
  await call('GET', '/dashboard/home', { token: ana })
  const { user: { profile: { username: nameOfBen = '' } = {} } = {} } = await call('GET', '/auth/me', { token: ben })
  t.not(nameOfBen, '')
  // Profile loads the places in the background.
  await until(async () => (await fetch(`${url}/locations?type=countries`)).ok)
  t.same(failures, [], 'all is well before')

  const posted: string[] = []
  const emptyHomes: unknown[] = []
  const turns = [
    async () => await call('GET', '/auth/me', { token: ana }),
    async () => {
      const body = { type: 'TEXT', content: `Running with @${nameOfBen}` }
      const { data } = await call('POST', '/feed', { token: ana, body })
      if (data?.post) posted.push(data.post.id)
    },
    async () => {
      const { data } = await call('GET', '/dashboard/home', { token: ana })
      if (data?.user?.name !== 'ana' || !Array.isArray(data.matches)) emptyHomes.push(data)
    },
    async () => await call('GET', '/feed?limit=5', { token: ben }),
    async () =>
      await call('POST', '/logs/batch', {
        token: ana,
        body: { items: [{ clientId: randomUUID(), type: 'WATER', at: new Date().toISOString(), data: { ml: 200 } }] }
      }),
    async () => await call('POST', '/fitmatch/setup-draft', { token: ben, body: { step: 2 } }),
    async () => await call('GET', '/notifications/unread-count', { token: ben }),
    async () => await call('POST', '/onboarding/save-profile', { token: ben, body: { bio: 'I run', subStep: 7 } }),
    async () => await call('GET', '/locations?type=countries'),
    async () =>
      await call('POST', '/notifications/push', { token: ana, body: { token: randomUUID(), platform: 'ios' } })
  ]
  const load = new AbortController()
  const underWay: Promise<unknown>[] = []
  const loading = (async () => {
    for (let turn = 0; !load.signal.aborted; turn++) {
      underWay.push(turns[turn % turns.length]!())
      await sleep(1_000 / REQUESTS_PER_SECOND)
    }
  })()

  const waiting = [...deployments]
  const rollOutNext = async () => {
    for (let deployment = waiting.shift(); deployment; deployment = waiting.shift()) {
      const before = underWay.length
      await rollOut(deployment)
      t.comment(`${deployment.name}: ${underWay.length - before} requests meanwhile, ${failures.length} failed so far`)
    }
  }
  // Two at once, as each start takes a core for a second, which the pods of a cluster do not share.
  await Promise.all([rollOutNext(), rollOutNext()])
  load.abort()
  await loading
  await Promise.all(underWay)

  t.same(failures, [], `${underWay.length} requests`)
  t.same(await readLines(deployments, failedIds), [], 'nothing is logged about failed requests')
  // A machine that stands still for a second makes a process refuse what comes next. A roll-out alone does not.
  const hasStoodStill = (await readLines(deployments, ['the event loop is late'])).length > 0
  t.same(hasStoodStill ? [] : repeated, [], 'none had to be repeated')
  t.same(emptyHomes, [], 'what a dashboard asks others for is there all the time')

  const listNotified = async () => {
    const ids: string[] = []
    for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined;) {
      const { data }: Answer = await call('GET', `/notifications?limit=50${cursor && `&cursor=${cursor}`}`, {
        token: ben
      })
      ids.push(...(data?.notifications ?? []).map((each) => each.data.postId))
      cursor = data?.nextCursor
    }
    return ids
  }
  let notified = await listNotified()
  const listMissing = () => posted.filter((id) => !notified.includes(id))
  for (let tries = 0; tries < 50 && listMissing().length > 0; tries++) {
    await sleep(200)
    notified = await listNotified()
  }
  t.same(listMissing(), [], `each of ${posted.length} mentions was notified`)
  t.equal(new Set(notified).size, notified.length, 'and none twice')
})
