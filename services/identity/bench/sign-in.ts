// Compares the CPU time of a sign-in with that of its password hash alone, and measures the memory after floods of them:
//   TEST_DATABASE_URL=postgres://… node services/identity/bench/sign-in.ts
// The service has the variables for malloc that every deployment sets. Its figure includes the client that the bench
// runs in the same process, the outbox and its relay; profile and dashboard do not answer.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpuTimeOf, median, reportGoals } from '@tandem/test-kit/measure'
import { readFile } from 'node:fs/promises'
import type { Order } from './sign-in-process.ts'

const ROUNDS = 5
const SECONDS = 3
const FLOODS = 3
const FLOOD: Order = { concurrency: 40, seconds: 8 }
const malloc = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '33554432',
  MALLOC_TRIM_THRESHOLD_: '134217728'
}

async function start (role: 'hash' | 'serve', env: NodeJS.ProcessEnv) {
  const child = fork(new URL('sign-in-process.ts', import.meta.url), [role], { env: { ...process.env, ...env } })
  await once(child, 'message')
  return {
    async run (order: Order) {
      const before = await cpuTimeOf([child.pid!])
      child.send(order)
      const [count] = await once(child, 'message') as [number]
      return { cpuMs: (await cpuTimeOf([child.pid!]) - before) / count / 1_000, count }
    },
    async residentMib () {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1_024
    },
    stop: () => child.disconnect()
  }
}

const [hash, service] = [await start('hash', {}), await start('serve', malloc)]
const rounds: { hash: number, signIn: number }[] = []
for (let round = 0; round <= ROUNDS; round++) {
  const order = { concurrency: 2, seconds: SECONDS }
  const figures = { hash: (await hash.run(order)).cpuMs, signIn: (await service.run(order)).cpuMs }
  // The first round warms up.
  if (round > 0) rounds.push(figures)
}
const resident: number[] = []
for (let flood = 0; flood < FLOODS; flood++) {
  await service.run(FLOOD)
  resident.push(await service.residentMib())
}
reportGoals([{
  name: "identity's CPU time of a sign-in",
  reference: `the hash alone, 2 at once: ${median(rounds.map((each) => each.hash)).toFixed(1)} ms, not ` +
    median(rounds.map((each) => each.signIn)).toFixed(1),
  figure: median(rounds.map((each) => each.signIn / each.hash)),
  atMost: 1.15
}, {
  name: `memory after ${FLOODS} floods of sign-ins`,
  reference: `memory after the first: ${resident.map((each) => each.toFixed(0)).join(', ')} MiB`,
  figure: resident.at(-1)! / resident[0]!,
  atMost: 1.15
}])
for (const { stop } of [hash, service]) stop()
