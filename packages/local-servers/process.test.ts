import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { Stalled, start, type ProcessSpec } from './process.ts'
import { UserError } from './screen.ts'

/** A process that runs `script`, and says of itself what `isReady` returns. */
function givenProcess (t: Test, script: string, isReady: ProcessSpec['isReady']): ProcessSpec {
  const folder = t.testdir()
  mkdirSync(path.join(folder, 'logs'))
  const file = path.join(folder, 'main.mjs')
  writeFileSync(file, script)
  return {
    name: 'profile',
    port: 0,
    logFile: path.join(folder, 'logs', 'profile.log'),
    ipc: true,
    command: () => ({ file: process.execPath, args: [file] }),
    isReady
  }
}

const runs = 'setInterval(() => {}, 1_000)'

t.test('a start takes as long as it makes progress', async (t) => {
  let percent = 0
  const recipe = givenProcess(t, runs, async () => percent++ === 40 || `loading places, ${percent} %`)
  const { stop } = await start(recipe, { stalledAfterMs: 1_000 })
  await stop()
})

t.test('before it responds, a log that grows is progress', async (t) => {
  let polls = 0
  const recipe = givenProcess(
    t,
    'setInterval(() => console.log("recovering"), 100)',
    async () => polls++ === 40
  )
  const { stop } = await start(recipe, { stalledAfterMs: 1_000 })
  await stop()
})

t.test('a start that makes no progress fails, and says what it waited for', async (t) => {
  const recipe = givenProcess(t, runs, async () => 'NATS has no stream EVENTS_PROFILE')
  await t.rejects(start(recipe, { stalledAfterMs: 600 }), {
    constructor: Stalled,
    message: 'profile did not start (nothing has changed for 0.6 s: NATS has no stream EVENTS_PROFILE)'
  })
})

t.test('a process that ends fails its start with its last messages, as sentences', async (t) => {
  const lines = [
    { level: 'info', msg: 'connected to NATS' },
    { level: 'warn', msg: 'an RPC failed', err: { message: 'timed out', stack: 'Error: timed out\n    at call' } },
    { level: 'warn', msg: 'an RPC failed', err: { message: 'timed out' } }
  ].map((line) => JSON.stringify(line))
  const script = `console.log(${JSON.stringify([...lines, '{"level":"warn","msg":"cut'].join('\n'))})
    console.error('profile cannot start: SECRET must be set')
    process.exitCode = 1`
  const error = await start(givenProcess(t, script, async () => false)).catch((reason: Error) => reason)
  t.type(error, UserError)
  t.equal(
    (error as Error).message,
    'profile did not start (exit code 1):\n    an RPC failed: timed out\n    profile cannot start: SECRET must be set'
  )
})
