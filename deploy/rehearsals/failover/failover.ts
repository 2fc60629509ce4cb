// Rehearses the failure of each server of a production system, under load: three NATS servers, a Postgres primary with a
// synchronous standby, Redis, and two of every process. Every acknowledged post must exist once, and have notified the
// person that it mentions once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startMail, startRedis } from '@tandem/test-kit'
import { serviceNames } from '../../../gateway/routes.ts'
import { createLoad } from './load.ts'
import { startNatsCluster } from './nats-cluster.ts'
import { startPostgresPair } from './postgres-pair.ts'
import { startReplicas } from './replicas.ts'

const MAX_RECOVERY_MS = 10_000
const PAUSE_MS = 10_000

const cleanups: (() => unknown)[] = []
const t = { teardown: (work: () => unknown) => cleanups.push(work) }
let isFailed = false

try {
  await rehearse()
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup()
}
process.exit(isFailed ? 1 : 0)

async function rehearse () {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-failover-'))
  t.teardown(async () => await rm(folder, { recursive: true, force: true }))
  const nats = await startNatsCluster(folder)
  t.teardown(nats.stop)
  const postgres = await startPostgresPair(folder)
  t.teardown(postgres.stop)
  const [redis, mail] = [await startRedis(t), await startMail(t)]
  startStreams(nats.url)
  const streams = serviceNames.map((name) => `EVENTS_${name.toUpperCase()}`)
  await nats.untilReplicated(streams)
  const gateways = await startReplicas(t, {
    folder,
    natsUrl: nats.url,
    redisUrl: redis.url,
    smtpUrl: mail.smtpUrl,
    adminUrl: postgres.primaryUrl,
    databaseHosts: postgres.hosts
  })

  const load = await createLoad(gateways)
  load.start()
  await sleep(5_000)

  /** Waits for `fail` and for the load to settle; prints the failed requests and when the last one failed. */
  async function rehearseFailure (name: string, fail: () => Promise<number>) {
    const [before, written] = [load.failures.length, load.acknowledged.length]
    const switchedAt = await fail()
    await sleep(PAUSE_MS)
    const failed = load.failures.slice(before)
    const lastMs = Math.max(0, ...failed.map(({ at }) => at - switchedAt))
    const kinds = [...new Set(failed.map(({ what }) => what))].slice(0, 2).join('; ')
    console.log(`  ${load.acknowledged.length - written} posts acknowledged meanwhile`)
    check(
      lastMs <= MAX_RECOVERY_MS,
      `${name}: ${failed.length} requests failed, the last ${lastMs} ms after the switch ${kinds && `(${kinds})`}`
    )
  }

  await rehearseFailure('leader of EVENTS_SOCIAL killed', async () => {
    const killedAt = Date.now()
    const leader = await nats.killLeader('EVENTS_SOCIAL')
    await sleep(5_000)
    await nats.restart(leader)
    return killedAt
  })
  await rehearseFailure('Postgres primary killed, standby promoted', async () => {
    await postgres.killPrimary()
    await sleep(1_000)
    await postgres.promote()
    return Date.now()
  })
  await rehearseFailure('Redis killed and restarted', async () => {
    await redis.kill()
    await sleep(1_000)
    await redis.start()
    return Date.now()
  })
  await load.stop()
  await nats.untilReplicated(streams)

  await verify(postgres.standbyUrl, load)
}

function startStreams (natsUrl: string) {
  const streams = spawn(process.execPath, ['packages/bus-kit/streams-cli.ts', ...serviceNames], {
    env: { ...process.env, NATS_URL: natsUrl, STREAM_REPLICAS: '3' },
    stdio: 'ignore'
  })
  t.teardown(async () => {
    streams.kill()
    await once(streams, 'exit')
  })
}

async function verify (url: string, { acknowledged, durations, reader }: Awaited<ReturnType<typeof createLoad>>) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const { rows: posts } = await client.query<{ content: string, id: string }>('select content, id from social.posts')
  const stored = Map.groupBy(posts, ({ content }) => content)
  const lost = acknowledged.filter((content) => !stored.has(content))
  const doubled = [...stored.values()].filter((same) => same.length > 1)
  const sorted = durations.toSorted((a, b) => a - b)
  console.log(`${acknowledged.length} posts acknowledged, half of them within ${sorted[sorted.length >> 1]} ms`)
  check(lost.length === 0, `acknowledged posts lost: ${lost.length}`)
  check(doubled.length === 0, `posts doubled: ${doubled.length}`)

  let notified: string[] = []
  for (let tries = 0; tries < 150 && notified.length < posts.length; tries++, await sleep(200)) {
    const { rows } = await client.query<{ postId: string }>(
      `select data->>'postId' as "postId" from notification.notifications where account_id = $1 and data ? 'postId'`,
      [reader.accountId]
    )
    notified = rows.map(({ postId }) => postId)
  }
  const unnotified = posts.length - new Set(notified).size
  check(unnotified === 0, `mentions without a notification: ${unnotified}`)
  check(
    new Set(notified).size === notified.length,
    `mentions notified twice: ${notified.length - new Set(notified).size}`
  )
}

function check (isOk: boolean, what: string) {
  console.log(`${isOk ? '✓' : '✗'} ${what}`)
  if (!isOk) isFailed = true
}
