// Compares the CPU time of a sign-in with that of its password hash alone, and measures the memory after floods of them:
//   TEST_DATABASE_URL=postgres://… node services/identity/bench/sign-in.ts
// The service has the variables for malloc that every deployment sets. Its figure includes the outbox and its relay;
// profile and dashboard do not answer.
import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpuTimeOf, median, reportGoals } from '@tandem/test-kit/measure'
import { readFile } from 'node:fs/promises'
import { password } from '../test/app.ts'
import { repeat, type Load } from './repeat.ts'
import type { Service } from './sign-in-process.ts'

const ROUNDS = 5
const FLOODS = 3

const WARM_UP: Load = { concurrency: 2, seconds: 12 }
const ROUND: Load = { concurrency: 2, seconds: 3 }
const FLOOD: Load = { concurrency: 40, seconds: 8 }
const malloc = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '33554432',
  MALLOC_TRIM_THRESHOLD_: '134217728'
}

/** Starts the process of `role`, which then does what `request` asks of it. */
async function start<Ready> (
  role: 'hash' | 'serve',
  env: NodeJS.ProcessEnv,
  request: (child: ChildProcess, ready: Ready, load: Load) => Promise<number>
) {
  const child = fork(new URL('sign-in-process.ts', import.meta.url), [role], { env: { ...process.env, ...env } })
  const [ready] = await once(child, 'message') as [Ready]
  return {
    /** Loads the process for a while. @returns its CPU time for each success, in milliseconds */
    async run (load: Load) {
      const before = await cpuTimeOf([child.pid!])
      const count = await request(child, ready, load)
      return (await cpuTimeOf([child.pid!]) - before) / count / 1_000
    },
    async residentMib () {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1_024
    },
    stop: () => child.disconnect()
  }
}

const hash = await start('hash', {}, async (child, _ready, load) => {
  child.send(load)
  const [count] = await once(child, 'message') as [number]
  return count
})
let turn = 0
const service = await start(
  'serve',
  malloc,
  async (_child, { url, emails }: Service, load) =>
    await repeat(load, async () => {
      const response = await fetch(`${url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: emails[turn++ % emails.length], password, deviceName: `Phone ${randomUUID()}` })
      })
      await response.arrayBuffer()
      return response.ok
    })
)
for (const { run } of [hash, service]) await run(WARM_UP)
const rounds: { hash: number, signIn: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  rounds.push({ hash: await hash.run(ROUND), signIn: await service.run(ROUND) })
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
