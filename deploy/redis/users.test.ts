import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { startRedis, until } from '@tandem/test-kit'
import { createQueue } from '@tandem/queue-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createRedisCounter } from '../../gateway/rate-limits/counter.ts'
import { createStatsCache } from '../../services/dashboard/stats/cache.ts'
import { exampleStats } from '../../services/dashboard/stats/schemas.ts'

const folder = path.join(import.meta.dirname, '../kubernetes/components/redis-users')
const rights = await readFile(path.join(folder, 'users.acl'), 'utf8')

async function world (t: Test) {
  const redis = await startRedis(t, { rights })
  const as = (user: string) => {
    const client = new Redis(redis.urlOf(user), { retryStrategy: () => null })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    return client
  }
  return { redis, as }
}

t.test('queues, hits and statistics work with the rights of their users', async (t) => {
  const { redis, as } = await world(t)
  for (const service of ['dashboard', 'identity', 'notification']) {
    const done = new Set<string>()
    let failures = 0
    const ids = Array.from({ length: 3 }, () => randomUUIDv7())
    const queue = createQueue({
      name: `${service}-jobs`,
      redisUrl: redis.urlOf(service),
      log: {
        info () {},
        warn (_, message) {
          t.fail(`${service}: ${message}`)
        }
      },
      listPending: async ({ after = '' }) => ids.filter((id) => id > after && !done.has(id)),
      async work (id) {
        // The second fails once and is tried again, the third is put off: other commands than for what succeeds.
        if (id === ids[2] && failures++ === 0) return { retryAfterMs: 50 }
        done.add(id)
      }
    })
    queue.start()
    await until(() => queue.ping().then(() => true, () => false))
    await queue.enqueue([ids[0]!, { id: ids[1]!, delayMs: 50 }])
    await queue.enqueue([ids[2]!])
    await until(() => done.size === 3)
    await until(async () => (await queue.depth()).active === 0)
    await queue.close()
  }

  const hits = createRedisCounter(redis.urlOf('gateway'), silentLog)
  t.teardown(() => hits.close())
  await until(() => hits.isShared())
  await hits.count('someone', 60_000)
  t.match(await hits.count('someone', 60_000), { current: 2 })
  t.equal(await as('operator').get('limit:someone'), '2', 'in Redis')

  const cache = createStatsCache(redis.urlOf('dashboard'), silentLog)
  t.teardown(() => cache.close())
  await until(() => cache.ready().then(() => true, () => false))
  await cache.set('ana', { stats: exampleStats, updatedAt: '2026-11-20T10:30:00.000Z' }, 60_000)
  t.equal(await as('operator').exists('tandem:dashboard:stats:v1:ana'), 1)
})

t.test('a connection without a user, or with the password of another, is rejected', async (t) => {
  const { redis } = await world(t)
  for (
    const options of [{}, { username: 'identity', password: 'secret-of-gateway' }, {
      username: 'social',
      password: 'secret-of-social'
    }]
  ) {
    const { hostname, port } = new URL(redis.url)
    const client = new Redis({
      host: hostname,
      port: Number(port),
      ...options,
      retryStrategy: () => null,
      lazyConnect: true
    })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    await client.connect().catch(() => {})
    await t.rejects(client.get('limit:someone'))
  }
})

t.test('no user reads or writes the keys of another, not even by a script', async (t) => {
  const { as } = await world(t)
  const keys = {
    gateway: 'limit:x',
    dashboard: 'tandem:dashboard:x',
    identity: 'tandem:identity-mails:x',
    notification: 'tandem:notification-mails:x'
  }
  for (const [user, own] of Object.entries(keys)) {
    const client = as(user)
    await t.resolves(client.set(own, '1'), `${user}: its own`)
    for (const other of [...Object.values(keys).filter((key) => key !== own), 'anything']) {
      await t.rejects(client.get(other), /NOPERM/, `${user}: ${other}`)
      await t.rejects(client.set(other, 'mine'), /NOPERM/)
      await t.rejects(
        client.call('eval', "return redis.call('get', ARGV[1])", 0, other),
        /./,
        'by a script that does not name it'
      )
    }
  }
})

t.test('no user manages the server, or learns the names of keys', async (t) => {
  const { as } = await world(t)
  for (const user of ['gateway', 'dashboard', 'identity', 'notification']) {
    const client = as(user)
    for (
      const command of [
        'CONFIG GET *',
        'CONFIG SET dir /tmp',
        'FLUSHALL',
        'FLUSHDB',
        'KEYS *',
        'SCAN 0',
        'RANDOMKEY',
        'DBSIZE',
        'SCRIPT FLUSH',
        'SCRIPT LOAD x',
        'FUNCTION FLUSH',
        'ACL LIST',
        'ACL WHOAMI',
        'CLIENT LIST',
        'CLIENT KILL ID 1',
        'SHUTDOWN',
        'SAVE',
        'BGREWRITEAOF',
        'REPLICAOF 127.0.0.1 1',
        'MONITOR',
        'MIGRATE 127.0.0.1 1 x 0 1',
        'PUBLISH x y',
        'SWAPDB 0 1',
        'MODULE LIST',
        'SLOWLOG GET',
        'LATENCY LATEST',
        'MEMORY DOCTOR',
        'SORT limit:x BY nosort GET tandem:*',
        'SUBSCRIBE x'
      ]
    ) {
      const [name = '', ...args] = command.split(' ')
      await t.rejects(client.call(name, ...args), /NOPERM/, `${user}: ${command}`)
    }
  }
})

t.test('a container starts with these users, and no password on a command line', async (t) => {
  const place = await mkdtemp(path.join(tmpdir(), 'tandem-acl-'))
  t.teardown(() => rm(place, { recursive: true, force: true }))
  // Everything of the script but where it finds and leaves its files, and the server itself, which shows what it was
  // given.
  const script = (await readFile(path.join(folder, 'start.sh'), 'utf8')).replaceAll('/etc/redis', folder).replaceAll(
    '/tmp/users.acl',
    `${place}/users.acl`
  ).replace('exec redis-server', 'echo')
  const passwords = Object.fromEntries(
    ['OPERATOR', 'GATEWAY', 'DASHBOARD', 'IDENTITY', 'NOTIFICATION'].map((
      user
    ) => [`REDIS_${user}_PASSWORD`, `secret-${user}`])
  )
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: { ...process.env, ...passwords } })
  t.match(stdout, '--aclfile')
  t.match(stdout, '--maxmemory 384mb --maxmemory-policy noeviction', 'it rejects writes, and is not killed')
  t.notMatch(stdout, 'secret-')
  const users = await readFile(`${place}/users.acl`, 'utf8')
  t.match(users, /^user gateway on >secret-GATEWAY .*~limit:\* /m)
  t.notMatch(users, /[#$]/)
  await t.rejects(
    promisify(execFile)('sh', ['-c', script], {
      env: { ...process.env, ...passwords, REDIS_GATEWAY_PASSWORD: undefined }
    }),
    'a password that is not set is no empty one'
  )
})
