import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createAlarm } from './alarm.ts'
import { createLogger } from './logging.ts'
import { runWhenDue } from './when-due.ts'

const log = createLogger('test')
const never = new AbortController().signal

/** Resolves once `isTrue`. Without it, the test times out. */
async function until (isTrue: () => boolean) {
  while (!isTrue()) await sleep(2)
}

t.test('a ring ends a wait, or the next one if none is running', async (t) => {
  const alarm = createAlarm()
  const waiting = alarm.wait(60_000, never)
  alarm.ring()
  t.equal(await waiting, true)
  alarm.ring()
  alarm.ring()
  t.equal(await alarm.wait(60_000, never), true)
  t.equal(await alarm.wait(5, never), false, 'two rings end one wait')
})

t.test('the end of the signal ends a wait', async (t) => {
  const stopping = new AbortController()
  const alarm = createAlarm()
  const waiting = alarm.wait(60_000, stopping.signal)
  stopping.abort()
  t.equal(await waiting, false)
  t.equal(await alarm.wait(60_000, stopping.signal), false)
})

t.test('work runs when it is due and not before, and a ring makes it look again', async (t) => {
  const runs: number[] = []
  let next: Date | undefined = new Date(Date.now() + 40)
  const work = runWhenDue(async () => {
    runs.push(Date.now())
    next = undefined
  }, { findNext: async () => next, maxIntervalMs: 60_000, log })
  t.teardown(() => work.stop())
  const dueAt = next.getTime()
  await until(() => runs.length === 1)
  t.ok(runs[0]! >= dueAt)
  next = new Date()
  await sleep(30)
  t.equal(runs.length, 1, 'it sleeps')
  work.ring()
  await until(() => runs.length === 2)
})

t.test('it looks again after the longest interval', async (t) => {
  let next: Date | undefined
  let runs = 0
  const work = runWhenDue(async () => {
    runs++
    next = undefined
  }, { findNext: async () => next, maxIntervalMs: 20, log })
  t.teardown(() => work.stop())
  await sleep(30)
  next = new Date()
  await until(() => runs === 1)
})

t.test('what failed, or is left, is tried again a second later', async (t) => {
  const runs: number[] = []
  const work = runWhenDue(async () => {
    runs.push(performance.now())
    if (runs.length === 1) throw new Error('failing')
  }, { findNext: async () => new Date(0), maxIntervalMs: 60_000, log })
  t.teardown(() => work.stop())
  await until(() => runs.length === 3)
  t.ok(runs[1]! - runs[0]! > 900)
  t.ok(runs[2]! - runs[1]! > 900)
})

t.test('a stop waits for the work', async (t) => {
  let isRunning = false
  const work = runWhenDue(async () => {
    isRunning = true
    await sleep(20)
    isRunning = false
  }, { findNext: async () => new Date(0), maxIntervalMs: 10, log })
  await until(() => isRunning)
  await work.stop()
  t.equal(isRunning, false)
})
