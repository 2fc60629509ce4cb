import argon2 from 'argon2'
import autocannon from 'autocannon'
import type { Member } from './people.ts'
import type { Stack } from './stack.ts'
import { median, type Row } from './table.ts'

const SECONDS = 5
const ROUNDS = 3
const CONNECTIONS = 16

/** The same signed-in GET, straight at its service and through the gateway, in turns. */
export async function compareGateway (stack: Stack, { accessToken }: Member): Promise<Row[]> {
  const headers = { authorization: `Bearer ${accessToken}` }
  const ways = {
    straight: `${stack.services['identity']?.url}/auth/sessions`,
    gateway: `${stack.gateway.url}/api/mobile/v1/auth/sessions`
  }
  const rounds: Record<keyof typeof ways, autocannon.Result[]> = { straight: [], gateway: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ['straight', 'gateway'] as const) {
      const result = await autocannon({ url: ways[way], headers, connections: CONNECTIONS, duration: SECONDS })
      if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused`)
      rounds[way].push(result)
    }
  }
  const row = (name: string, results: autocannon.Result[]): Row => ({
    name,
    'per second': median(results.map((result) => result.requests.average)),
    'p50 ms': median(results.map((result) => result.latency.p50)),
    'p99 ms': median(results.map((result) => result.latency.p99))
  })
  return [
    row('signed-in GET, straight at the service', rounds.straight),
    row('the same through the gateway', rounds.gateway)
  ]
}

const AT_ONCE = 2

/** Sign-ins by password, beside what the hash function alone reaches with as many at once. */
export async function compareSignIns (stack: Stack, members: Member[]): Promise<Row[]> {
  const known = await argon2.hash('Correct-horse-7', {
    type: argon2.argon2id,
    memoryCost: 12_288,
    timeCost: 3,
    parallelism: 1
  })
  const bare: number[] = []
  const signIns: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(
      await rate(AT_ONCE, async () => {
        await argon2.verify(known, 'Correct-horse-7')
      })
    )
    signIns.push(
      await rate(AT_ONCE * 2, async (turn) => {
        const { email, password } = members[turn % members.length]!
        const response = await fetch(`${stack.gateway.url}/api/mobile/v1/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password })
        })
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`a sign-in answered ${response.status}`)
      })
    )
  }
  return [
    { name: 'argon2 verify alone, 2 at once', 'per second': median(bare) },
    { name: 'sign-ins through the gateway', 'per second': median(signIns) }
  ]
}

/** How often a second `work` is done, by `width` workers. */
async function rate (width: number, work: (turn: number) => Promise<void>) {
  const until = performance.now() + SECONDS * 1_000
  let turns = 0
  await Promise.all(Array.from({ length: width }, async () => {
    while (performance.now() < until) await work(turns++)
  }))
  return turns / SECONDS
}
