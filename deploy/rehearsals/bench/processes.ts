import { readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { reportGoals } from '@tandem/test-kit/goals'
import { cpuTime, residentBytes } from '../kit/cpu.ts'
import { runStack, START_SETTLE_MS, type Stack } from '../kit/stack.ts'

// Measures how long the gateway and the services take to start, what they keep in memory, and what the whole system does
// while nobody uses it. The first start fills an empty database, the bundles and the compile cache; the second one is
// measured.
// So that what runs each minute counts once.
const IDLE_SECONDS = 60
const TICKS_PER_SECOND = 100

const dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-bench-'))
try {
  await runStack(dataDir, async (stack) => {
    console.log(`first start, on empty data: ${readStartSeconds(stack).toFixed(2)} s`)
  })
  await runStack(dataDir, measure)
} finally {
  await rm(dataDir, { recursive: true, force: true })
}

async function measure (stack: Stack) {
  const startSeconds = readStartSeconds(stack)
  const processes = listProcesses(stack)
  await sleep(START_SETTLE_MS)
  const megabytes = await Promise.all(processes.map(async ({ pid }) => await residentBytes(pid) / 1_000_000))
  const idle = await measureIdle(stack, processes.map(({ pid }) => pid))
  for (const [index, { name }] of processes.entries()) {
    console.log(
      `${name.padEnd(14)} ${megabytes[index]!.toFixed(0).padStart(4)} MB  ${
        idle.cpuPercents[index]!.toFixed(2)
      } % of a core  ${idle.wakeUps[index]!.toFixed(1).padStart(5)} wake-ups a second`
    )
  }
  const sum = (figures: number[]) => figures.reduce((total, each) => total + each, 0)
  reportGoals([
    {
      name: 'start of all seven',
      reference: 'from the first process until all were ready',
      figure: startSeconds,
      unit: 's',
      atMost: 12
    },
    {
      name: 'memory at rest, the largest process',
      reference: 'resident',
      figure: Math.max(...megabytes),
      unit: 'MB',
      atMost: 200
    },
    {
      name: 'CPU at rest, all seven',
      reference: 'one core',
      figure: sum(idle.cpuPercents),
      unit: '%',
      atMost: 5
    },
    { name: 'transactions at rest', reference: 'all databases', figure: idle.transactions, unit: 'per s', atMost: 5 }
  ])
}

function listProcesses (stack: Stack) {
  return Object.entries({ gateway: stack.gateway, ...stack.services }).map(([name, { pid }]) => ({
    name,
    pid: pid ?? 0
  }))
}

/** From the start of the first process until all were ready. */
function readStartSeconds (stack: Stack) {
  return statSync(path.join(dataDir, 'stack.json')).mtimeMs / 1_000 -
    Math.min(...listProcesses(stack).map(({ pid }) => startedAt(pid)))
}

/** When the process started, in seconds since 1970. */
function startedAt (pid: number) {
  const bootSeconds = Number(/btime (\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1])
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return bootSeconds + Number(fields[19]) / TICKS_PER_SECOND
}

function wakeUpsOf (pid: number) {
  return Number(/\nvoluntary_ctxt_switches:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Figures per second. */
async function measureIdle (stack: Stack, pids: number[]) {
  const database = new pg.Client(stack.postgres.url)
  await database.connect()
  const read = async () => ({
    cpu: await Promise.all(pids.map(cpuTime)),
    wakeUps: pids.map(wakeUpsOf),
    transactions: await countTransactions(database)
  })
  const before = await read()
  await sleep(IDLE_SECONDS * 1_000)
  const after = await read()
  await database.end()
  const perSecond = (later: number[], earlier: number[]) =>
    later.map((each, index) => (each - earlier[index]!) / IDLE_SECONDS)
  return {
    cpuPercents: perSecond(after.cpu, before.cpu).map((microseconds) => microseconds / 10_000),
    wakeUps: perSecond(after.wakeUps, before.wakeUps),
    transactions: (after.transactions - before.transactions) / IDLE_SECONDS
  }
}

async function countTransactions (database: pg.Client) {
  const { rows: [row] } = await database.query<{ count: string }>(
    'select sum(xact_commit + xact_rollback) as count from pg_stat_database'
  )
  return Number(row?.count)
}
