// One side of the comparison in sign-in.ts: the service at default settings, or password hashes alone. It has the
// `role` of its argument, reports a number for each message, and uses what the message says: how many at once.
import { randomUUID } from 'node:crypto'
import argon2 from 'argon2'
import { connectBus, startRelay, startStreamManager, STREAM_MANAGER_USER } from '@tandem/bus-kit'
import { createKeySet } from '@tandem/http-kit'
import { createLogger } from '@tandem/process-kit'
import { startNats } from '@tandem/test-kit'
import { createApp } from '../app.ts'
import { listPublicKeys } from '../keys/queries.ts'
import { password, testApp } from '../test/app.ts'

export interface Order {
  concurrency: number
  seconds: number
}

const ACCOUNTS = 64
const closing: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => closing.unshift(close) }
const work = process.argv[2] === 'hash' ? await hashAlone() : await serve()
process.on('message', (order: Order) => void run(order).then((count) => process.send?.(count)))
process.on('disconnect', () => void Promise.allSettled(closing.map((close) => close())).then(() => process.exit()))
process.send?.('ready')

async function hashAlone () {
  const hash = await argon2.hash(password, { type: argon2.argon2id, memoryCost: 12_288, timeCost: 3, parallelism: 1 })
  return async () => await argon2.verify(hash, password)
}

async function serve () {
  const nats = await startNats(t)
  const { db, deps, givenAccount } = await testApp(t)
  const log = createLogger('identity', undefined, { write () {} })
  const keys = createKeySet(() => listPublicKeys(db), log)
  const app = await createApp(deps, { log, keys })
  const emails: string[] = []
  for (let each = 0; each < ACCOUNTS; each++) emails.push((await givenAccount()).email)
  startStreamManager(connectBus(nats.url, { service: STREAM_MANAGER_USER, log }), ['identity'])
  const relay = startRelay(connectBus(nats.url, { service: 'identity', log }), db)
  t.teardown(() => relay.stop())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }

  return async (turn: number) => {
    const response = await fetch(`http://127.0.0.1:${port}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: emails[turn % ACCOUNTS], password, deviceName: `Phone ${randomUUID()}` })
    })
    await response.arrayBuffer()
    return response.ok
  }
}

/** Works for a while, and returns how many times it succeeded. */
async function run ({ concurrency, seconds }: Order) {
  const until = performance.now() + seconds * 1_000
  let turn = 0
  let succeeded = 0
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (performance.now() < until) if (await work(turn++)) succeeded++
  }))
  return succeeded
}
