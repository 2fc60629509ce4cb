import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import pg from 'pg'
import type { CallRpc } from '@tandem/bus-kit'
import { connect, migrate } from '@tandem/database-kit'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createHooks } from '@tandem/http-kit'
import type { Tables } from '../tables.ts'
import { createApp, createFacts } from '../test/app.ts'
import { createFitMatchErasure } from '../erasure.ts'

// Measures swipes and messages over HTTP with eight concurrent people, compared with a plain transaction that inserts
// one row and one event. Creates a schema on the server of DATABASE_URL and drops it afterwards.

const WRITERS = 8
const EACH = 150
const ROUNDS = 3

const server = process.env['DATABASE_URL']
if (!server) {
  console.error('usage: DATABASE_URL=postgres://… node services/fitmatch/bench/writes.ts')
  process.exit(2)
}
const schema = `bench_${randomBytes(6).toString('hex')}`
const url = new URL(server)
url.searchParams.set('options', `-c search_path=${schema}`)
const schemaUrl = url.href.replaceAll('+', '%20')
const plainClient = new pg.Pool({ connectionString: schemaUrl, max: 5 })
await plainClient.query(`create schema ${schema}`)
await migrate(schemaUrl, path.resolve(import.meta.dirname, '..'))
const db = connect<Tables>(schemaUrl, { log: { warn () {} } })
const callRpc = (async () => createFacts('Someone')) as unknown as CallRpc
const media = createMedia({ storage: diskStorage('/nowhere'), cdnUrl: 'https://cdn.example' })
const selfies = diskStorage('/nowhere')
const erasure = createFitMatchErasure({ db, callRpc, media, selfies })
const app = await createApp({
  db,
  callRpc,
  hooks: createHooks(undefined, silentLog),
  findPeople: async () => [],
  media,
  selfies,
  minAge: 18,
  now: () => new Date(),
  fourEyes: new Set(),
  areAdminRoutesOff: false,
  erasure,
  sendEphemeral () {}
}, {
  log: silentLog,
  keys: testKeys
})

const post = async (accountId: string, url: string, payload: object) => {
  const response = await app.inject({ method: 'POST', url, headers: headersOf(accountId), payload })
  if (response.statusCode >= 300) throw new Error(`${url}: ${response.body}`)
  return response.json().data
}
const headers = new Map<string, ReturnType<typeof bearer>>()
const headersOf = (accountId: string) =>
  headers.get(accountId) ?? headers.set(accountId, bearer(accountId)).get(accountId)

async function member () {
  const id = randomUUID()
  const { id: profileId } = await post(id, '/fitmatch/profile', {})
  await plainClient.query(`update members set subscribed_until = now() + interval '1 day' where account_id = $1`, [id])
  return { id, profileId: profileId as string }
}

/** Operations per second, all writers together. */
async function rate (work: (writer: number, turn: number) => Promise<unknown>) {
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: WRITERS }, async (_, writer) => {
    for (let turn = 0; turn < EACH; turn++) await work(writer, turn)
  }))
  return WRITERS * EACH * 1000 / (performance.now() - startedAt)
}

const median = (values: number[]) =>
  Math.round(values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0)

try {
  await plainClient.query('create table plain (id uuid primary key default uuidv7(), text text)')
  const writers = await Promise.all(Array.from({ length: WRITERS }, member))
  const targets: Awaited<ReturnType<typeof member>>[] = []
  for (let turn = 0; turn < EACH * ROUNDS; turn++) targets.push(await member())
  const chats = await Promise.all(writers.map(async (writer) => {
    const other = await member()
    await post(writer.id, '/fitmatch/swipe', { targetProfileId: other.profileId, swipeType: 'LIKE' })
    return (await post(other.id, '/fitmatch/swipe', { targetProfileId: writer.profileId, swipeType: 'LIKE' })).match
      .matchId as string
  }))
  const rates: Record<'swipes' | 'messages' | 'plain', number[]> = { swipes: [], messages: [], plain: [] }
  for (let round = 0; round < ROUNDS; round++) {
    rates.swipes.push(
      await rate((writer, turn) =>
        post(writers[writer]!.id, '/fitmatch/swipe', {
          targetProfileId: targets[round * EACH + turn]!.profileId,
          swipeType: 'LIKE'
        })
      )
    )
    rates.messages.push(
      await rate((writer, turn) => {
        // The message limit is not what is measured, so reset it in time.
        const sent = post(writers[writer]!.id, `/fitmatch/chat/${chats[writer]}/messages`, {
          content: `message ${turn}`
        })
        return turn % 50 === 49
          ? sent.then(() => plainClient.query('delete from message_quota where account_id = $1', [writers[writer]!.id]))
          : sent
      })
    )
    rates.plain.push(
      await rate(async () => {
        const client = await plainClient.connect()
        await client.query('begin')
        await client.query({ name: 'row', text: 'insert into plain (text) values ($1)', values: ['x'] })
        await client.query({
          name: 'event',
          text: 'insert into outbox (type, subject, data) values ($1, $2, $3)',
          values: ['a.b.c.v1', 'x', '{}']
        })
        await client.query('commit')
        client.release()
      })
    )
  }
  console.table({
    'swipes per second': median(rates.swipes),
    'messages per second': median(rates.messages),
    'plain row and event per second': median(rates.plain)
  })
} finally {
  await app.close()
  await db.destroy()
  await plainClient.query(`drop schema ${schema} cascade`)
  await plainClient.end()
}
