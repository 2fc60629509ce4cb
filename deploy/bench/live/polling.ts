import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTime } from '../cpu.ts'
import { call } from '../people.ts'
import { START_SETTLE_MS, withStack, type Stack } from '../stack.ts'
import { createPairs, sendMessage, type Writer } from './pairs.ts'
import { openOne } from './processes.ts'
import { report } from './report.ts'

const PAIRS = 250
const SECONDS = 20
const POLL_MS = 3_000
/** Each person writes once in this time. */
const MESSAGE_MS = 20_000

/** Lets the same people chat twice: with apps that poll, and with apps that are connected. Compares the CPU. */
export async function run () {
  await withStack(async (stack) => {
    const writers = await createPairs(stack, PAIRS)
    await sleep(START_SETTLE_MS)
    const writing = async () => await chat(stack, writers)
    // Everything runs once before it is measured: code that is not yet compiled would be measured otherwise.
    const measure = async (work: () => Promise<unknown>) => {
      await work()
      return await cpuOf(stack, work)
    }
    const alone = await measure(writing)
    const polling = await measure(async () => await Promise.all([writing(), poll(stack, writers)])) - alone
    for (const { token } of writers) await openOne(stack.gateway.url, token)
    const connected = await measure(writing) - alone
    console.log(`${writers.length} people chat for ${SECONDS} s; CPU of all processes, without that of writing`)
    report([
      {
        what: 'CPU of being connected',
        figure: Math.max(0, connected),
        unit: 'ms',
        atMost: polling / 10,
        reference: polling
      }
    ])
  })
}

async function chat (stack: Stack, writers: Writer[]) {
  await Promise.all(writers.map(async (writer, number) => {
    await sleep(number / writers.length * MESSAGE_MS)
    await sendMessage(stack, writer, `${number}-${Date.now()}`)
  }))
}

async function poll (stack: Stack, writers: Writer[]) {
  const until = performance.now() + SECONDS * 1_000
  await Promise.all(writers.map(async ({ token, matchId }, number) => {
    await sleep(number / writers.length * POLL_MS)
    while (performance.now() < until) {
      const startedAt = performance.now()
      await call(stack, 'GET', `/fitmatch/chat/${matchId}/messages?after=${new Date().toISOString()}`, { token })
      await call(stack, 'GET', '/notifications/unread-count', { token })
      await sleep(Math.max(0, POLL_MS - (performance.now() - startedAt)))
    }
  }))
}

async function cpuOf ({ gateway, services }: Stack, work: () => Promise<unknown>) {
  const pids = [gateway, ...Object.values(services)].map(({ pid }) => pid ?? 0)
  const total = async () => (await Promise.all(pids.map(cpuTime))).reduce((sum, each) => sum + each, 0) / 1_000
  const before = await total()
  await work()
  return await total() - before
}
