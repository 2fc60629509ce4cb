import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { runConcurrently, until } from '@tandem/test-kit'
import type pg from 'pg'
import { Pool } from 'undici'
import { cpuTime } from '../cpu.ts'
import type { Stack } from '../stack.ts'
import { median } from '../table.ts'

const CONNECTIONS = 4
const ROUNDS = 9
// The reference is small, so this takes a second, and then its figures are steady.
const REFERENCE_WARM_UP = 1_500
const HASH_WARM_UP = 10

const IDLE_PERIOD_MS = 200
const IDLE_SHARE = 0.05

export interface Call {
  method: 'GET' | 'POST'
  path: string
  token?: string
  body?: object
}

export interface HotPath {
  /** The process whose CPU time counts: the gateway, or a service. */
  process: string
  /** The requests of a round. */
  requests: number
  /** The requests before the first round. */
  warmUp: number
  /** The request of a turn through the gateway. Turns count up over all rounds. */
  call: (turn: number) => Call
  /** What the path is compared with, in reference-process.ts. */
  reference: Call
  onResponse?: (body: unknown) => void
  beforeRound?: () => Promise<unknown>
}

export interface Comparison {
  /** Returns the CPU time of a request as a multiple of its reference: the median of rounds that alternate. */
  compare: (path: HotPath) => Promise<number>
  close: () => Promise<void>
}

/** Starts the process with which the paths are compared, on the Postgres of `stack`. */
export async function startComparison (stack: Stack, database: pg.Client): Promise<Comparison> {
  const child = fork(new URL('reference-process.ts', import.meta.url), [
    stack.postgres.url,
    stack.services['identity']!.url
  ], {
    // As identity has them, because the memory of a hash makes a difference.
    env: {
      ...process.env,
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '33554432',
      MALLOC_TRIM_THRESHOLD_: '134217728'
    }
  })
  const [port] = await once(child, 'message') as [number]
  const gateway = new Pool(stack.gateway.url, { connections: CONNECTIONS })
  const warmed = new Set<string>()
  const reference = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })

  /** Returns the CPU time of `requests` requests in microseconds, with what the process does after their responses. */
  async function measure (name: string, pid: number, requests: number, send: (number: number) => Promise<unknown>) {
    const before = await cpuTime(pid)
    await sendMany(requests, send)
    if (stack.services[name]) await untilPublished(database, name)
    return (await cpuTime(pid) - before) / requests
  }

  async function warmUpReference (bare: Call) {
    await sendMany(
      bare.path === '/hash' ? HASH_WARM_UP : REFERENCE_WARM_UP,
      async () => await send(reference, '', bare)
    )
    warmed.add(bare.path)
  }

  return {
    async compare ({ process: name, requests, warmUp, call, reference: bare, onResponse, beforeRound }) {
      const { pid } = name === 'gateway' ? stack.gateway : stack.services[name]!
      await untilIdle(pid!)
      let turn = turns.get(call) ?? 0
      const measureRound = async (count: number) => {
        await beforeRound?.()
        const served = await measure(name, pid!, count, async (number) => {
          const body = await send(gateway, '/api/mobile/v1', call(turn + number))
          onResponse?.(body)
        })
        turn += count
        const alone = await measure('reference', child.pid!, count, async () => await send(reference, '', bare))
        return served / alone
      }
      if (!warmed.has(bare.path)) await warmUpReference(bare)
      await measureRound(warmUp)
      const ratios: number[] = []
      for (let round = 0; round < ROUNDS; round++) ratios.push(await measureRound(requests))
      turns.set(call, turn)
      return median(ratios)
    },
    async close () {
      await Promise.all([gateway.close(), reference.close()])
      child.disconnect()
    }
  }
}

async function sendMany (requests: number, send: (number: number) => Promise<unknown>) {
  await runConcurrently(Array.from({ length: requests }, (_, number) => async () => await send(number)), CONNECTIONS)
}

// A path that is measured twice continues where it stopped: nobody likes a post twice.
const turns = new WeakMap<HotPath['call'], number>()

async function send (pool: Pool, base: string, { method, path, token, body }: Call) {
  const response = await pool.request({
    method,
    path: `${base}${path}`,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' })
    },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await response.body.text()
  if (response.statusCode >= 300) throw new Error(`${method} ${path} returned ${response.statusCode}: ${text}`)
  return JSON.parse(text) as unknown
}

/** Waits until a process has done what earlier paths caused, such as consuming their events. */
async function untilIdle (pid: number) {
  await until(async () => {
    const before = await cpuTime(pid)
    await sleep(IDLE_PERIOD_MS)
    return await cpuTime(pid) - before < IDLE_PERIOD_MS * 1_000 * IDLE_SHARE
  })
}

async function untilPublished (database: pg.Client, service: string) {
  await until(async () => {
    const { rows } = await database.query(`select from ${service}.outbox where published_at is null limit 1`)
    return rows.length === 0
  })
}
