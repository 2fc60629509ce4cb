import argon2 from 'argon2'
import autocannon from 'autocannon'
import type { Member } from './people.ts'
import type { Stack } from './stack.ts'
import { median, type Row } from './table.ts'

const SECONDS = 5
const ROUNDS = 3
const CONNECTIONS = 16

/** Measures an authenticated GET directly at its service and through the gateway, in alternating rounds. */
export async function compareGateway (stack: Stack, { accessToken }: Member): Promise<Row[]> {
  const headers = { authorization: `Bearer ${accessToken}` }
  const urls = {
    direct: `${stack.services['identity']?.url}/auth/sessions`,
    gateway: `${stack.gateway.url}/api/mobile/v1/auth/sessions`
  }
  const rounds: Record<keyof typeof urls, autocannon.Result[]> = { direct: [], gateway: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const target of ['direct', 'gateway'] as const) {
      const result = await autocannon({ url: urls[target], headers, connections: CONNECTIONS, duration: SECONDS })
      if (result.non2xx > 0) throw new Error(`${result.non2xx} requests failed`)
      rounds[target].push(result)
    }
  }
  const row = (name: string, results: autocannon.Result[]): Row => ({
    name,
    'per second': median(results.map((result) => result.requests.average)),
    'p50 ms': median(results.map((result) => result.latency.p50)),
    'p99 ms': median(results.map((result) => result.latency.p99))
  })
  return [
    row('authenticated GET, directly at the service', rounds.direct),
    row('the same through the gateway', rounds.gateway)
  ]
}

const CONCURRENCY = 2

/** Measures sign-ins by password, and for comparison the password hash alone. */
export async function compareSignIns (stack: Stack, members: Member[]): Promise<Row[]> {
  const hash = await argon2.hash('Correct-horse-7', {
    type: argon2.argon2id,
    memoryCost: 12_288,
    timeCost: 3,
    parallelism: 1
  })
  const hashOnly: number[] = []
  const signIns: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    hashOnly.push(
      await rate(CONCURRENCY, async () => {
        await argon2.verify(hash, 'Correct-horse-7')
      })
    )
    signIns.push(
      await rate(CONCURRENCY * 2, async (turn) => {
        const { email, password } = members[turn % members.length]!
        const response = await fetch(`${stack.gateway.url}/api/mobile/v1/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password })
        })
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`a sign-in failed with ${response.status}`)
      })
    )
  }
  return [
    { name: 'argon2 verify alone, 2 concurrent', 'per second': median(hashOnly) },
    { name: 'sign-ins through the gateway', 'per second': median(signIns) }
  ]
}

/** Returns how many times a second `workers` concurrent workers complete `work`. */
async function rate (workers: number, work: (turn: number) => Promise<void>) {
  const until = performance.now() + SECONDS * 1_000
  let turns = 0
  await Promise.all(Array.from({ length: workers }, async () => {
    while (performance.now() < until) await work(turns++)
  }))
  return turns / SECONDS
}
