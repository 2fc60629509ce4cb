import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual, promisify } from 'node:util'
import { connect, type JetStreamManager } from 'nats'
import { Redis } from 'ioredis'
import { startNats, startRedis } from '@tandem/test-kit'
import { serviceNames as services } from '../../gateway/routes.ts'
import { becomeMember, call, type Member } from './people.ts'
import { withStack, type Stack } from './stack.ts'

// Rehearses the backup and restore of docs/operations.md with pg_dump and pg_restore: of a consuming service, of a
// publishing service, then of everything. After each restore, every mention must have exactly one notification.
const { DATABASE_URL } = process.env
if (!DATABASE_URL) {
  throw new Error('DATABASE_URL must name an empty database for tests: its schemas are dropped')
}

const run = promisify(execFile)
const cleanups: (() => unknown)[] = []
const folder = await mkdtemp(path.join(tmpdir(), 'tandem-restore-'))
cleanups.push(async () => await rm(folder, { recursive: true, force: true }))

const nats = await startNats({ teardown: (work) => cleanups.push(work) })
const redis = await startRedis({ teardown: (work) => cleanups.push(work) })
const environment = { DATABASE_URL, NATS_URL: nats.url, REDIS_URL: redis.url, SECRET: randomUUID() }

let ana: Member
let ben: Member
let usernameOfBen = ''
let failures = 0
const backups = new Map<string, Record<string, string>>()
const mentionedPosts: string[] = []

try {
  await withStack(async (stack) => {
    ;[ana, ben] = [await becomeMember(stack, 'ana@example.com'), await becomeMember(stack, 'ben@example.com')]
    const { user } = await call<{ user: { profile: { username: string } } }>(stack, 'GET', '/auth/me', {
      token: ben.accessToken
    })
    usernameOfBen = user.profile.username
    await mention(stack, 60)
    await verify(stack, 'each mention creates one notification')
    await dump('notification')
    await dump('social')
    await mention(stack, 40)
    await verify(stack, 'so does each mention after the backup')
  }, environment)
  await restore('notification')
  await deleteConsumers('notification')
  await withStack(async (stack) => {
    await verify(stack, 'notification restored: it consumes the events since the backup again')
    await mention(stack, 20)
    await verify(stack, 'and continues')
  }, environment)
  await restore('social')
  await deleteConsumers('social')
  await withStack(async (stack) => {
    await verify(stack, 'social restored: no notification is created twice')
    await mention(stack, 20)
    await verify(stack, 'and continues')
    await dump('everything', services)
  }, environment)
  await restore('everything', services)
  await deleteStreams()
  const client = new Redis(redis.url)
  await client.flushall()
  client.disconnect()
  await withStack(async (stack) => {
    await verify(stack, 'everything restored, streams deleted: no notification is created twice')
    await mention(stack, 10)
    await verify(stack, 'and continues')
  }, environment)
} finally {
  for (const each of cleanups.reverse()) await each()
}
process.exit(failures === 0 ? 0 : 1)

function check (ok: boolean, what: string) {
  console.log(`${ok ? '✓' : '✗'} ${what}`)
  if (!ok) failures++
}

async function mention (stack: Stack, times: number) {
  for (let time = 0; time < times; time++) {
    const { data: { post } } = await call<{ data: { post: { id: string } } }>(stack, 'POST', '/feed', {
      token: ana.accessToken,
      body: { type: 'TEXT', content: `${time}: running with @${usernameOfBen}` }
    })
    mentionedPosts.push(post.id)
  }
}

interface NotificationPage {
  data: { notifications: { data: { postId?: string } }[], nextCursor: string | null }
}

async function verify (stack: Stack, what: string) {
  await settle()
  const notifiedPosts: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { data }: NotificationPage = await call(
      stack,
      'GET',
      `/notifications?limit=50${cursor && `&cursor=${cursor}`}`,
      {
        token: ben.accessToken
      }
    )
    notifiedPosts.push(...data.notifications.flatMap(({ data: { postId } }) => postId ?? []))
    cursor = data.nextCursor
  }
  check(
    isDeepStrictEqual(notifiedPosts.sort(), mentionedPosts.toSorted()),
    `${what} (${notifiedPosts.length} of ${mentionedPosts.length})`
  )
}

/** Waits until every event in the outboxes is published, consumed and acknowledged. */
async function settle () {
  await withStreams(async (manager) => {
    for (let quiet = 0; quiet < 5;) {
      const outboxes = await query(
        services.map((service) => `select count(*) from ${service}.outbox where published_at is null`).join(
          ' union all '
        )
      )
      let waiting = outboxes.reduce((sum, count) => sum + Number(count), 0)
      for await (const { config } of manager.streams.list()) {
        for await (
          const { num_pending: pending, num_ack_pending: unacknowledged } of manager.consumers.list(config.name)
        ) {
          waiting += pending + unacknowledged
        }
      }
      quiet = waiting === 0 ? quiet + 1 : 0
      await sleep(200)
    }
  })
}

async function withStreams (work: (manager: JetStreamManager) => Promise<void>) {
  const connection = await connect({ servers: nats.url })
  try {
    await work(await connection.jetstreamManager())
  } finally {
    await connection.close()
  }
}

async function query (text: string) {
  return (await run('psql', ['-qAt', '-v', 'ON_ERROR_STOP=1', DATABASE_URL ?? '', '-c', text])).stdout.trim().split(
    '\n'
  )
}

async function dump (name: string, schemas = [name]) {
  await settle()
  await run('pg_dump', [
    DATABASE_URL ?? '',
    '--format=custom',
    ...schemas.map((schema) => `--schema=${schema}`),
    `--file=${path.join(folder, name)}`
  ])
  backups.set(name, await digest(schemas))
}

async function restore (name: string, schemas = [name]) {
  await query(schemas.map((schema) => `drop schema ${schema} cascade;`).join(' '))
  await run('pg_restore', [
    `--dbname=${DATABASE_URL}`,
    '--exit-on-error',
    '--single-transaction',
    path.join(folder, name)
  ])
  check(isDeepStrictEqual(await digest(schemas), backups.get(name)), `the rows of ${name} are those of the backup`)
  await query(
    schemas.map((schema) => `select setval('${schema}.outbox_seq_seq', (extract(epoch from now()) * 1000000)::bigint);`)
      .join(' ')
  )
}

/** Returns the row count and a digest of every table. */
async function digest (schemas: string[]) {
  const tables = await query(`select table_schema || '.' || table_name from information_schema.tables
    where table_schema in (${schemas.map((schema) => `'${schema}'`).join()}) and table_type = 'BASE TABLE' order by 1`)
  const digests = tables.map(async (table) =>
    [
      table,
      String(
        await query(`select count(*), md5(string_agg(md5(row::text), '' order by md5(row::text))) from ${table} as row`)
      )
    ] as const
  )
  return Object.fromEntries(await Promise.all(digests))
}

/** Deletes the consumers of a service, so that it consumes everything again that is still in the streams. */
async function deleteConsumers (service: string) {
  await withStreams(async (manager) => {
    for await (const { config } of manager.streams.list()) {
      for await (const { name } of manager.consumers.list(config.name)) {
        if (name === service) await manager.consumers.delete(config.name, name)
      }
    }
  })
}

async function deleteStreams () {
  await withStreams(async (manager) => {
    for await (const { config } of manager.streams.list()) await manager.streams.delete(config.name)
  })
}
