import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import t from 'tap'

const kit = new URL('./index.ts', import.meta.url).href

const scriptOf = (main: string) =>
  `import { run, readConfig, ProcessEnvironment } from '${kit}'; import { createServer } from 'node:http'; import { connect } from 'node:net'; await run('social', async (onClose, log) => { ${main} })`

function start (main: string, { ipc = false, env = {} } = {}) {
  const args = ['--input-type=module-typescript', '--eval', scriptOf(main)]
  const stdio: Array<'pipe' | 'ipc'> = ipc ? ['pipe', 'pipe', 'pipe', 'ipc'] : ['pipe', 'pipe', 'pipe']
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...env }, cwd: import.meta.dirname })
  const output = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output.out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    output.err += text
  })
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on('data', () => {
      if (output.out.includes('started')) resolve()
    })
  })
  // Not 'close', which never comes for a child whose channel has been disconnected.
  const ended = Promise.all([
    once(child, 'exit'),
    once(child.stdout as Readable, 'end'),
    once(child.stderr as Readable, 'end')
  ]).then(([[code]]) => code as number | null)
  return { child, output, ready, ended }
}

const opens =
  "setInterval(() => {}, 1000); onClose(() => log.info('first closed')); onClose(() => { throw new Error('stuck') }); onClose(() => log.info('last closed')); log.info('started')"

t.test('on SIGTERM a process closes its resources in reverse order', async (t) => {
  const { child, output, ready, ended } = start(opens)
  await ready
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(output.out, /last closed[^]*closing a resource failed[^]*first closed/)
})

t.test('a process exits with its parent', async (t) => {
  const { child, output, ready, ended } = start(opens, { ipc: true })
  await ready
  child.disconnect()
  t.equal(await ended, 0)
  t.match(output.out, 'first closed')
})

t.test('a killed process has written each of its lines', async (t) => {
  const { output, ended } = start(
    "for (let line = 1; line <= 100; line++) log.info(`line ${line}`); process.kill(process.pid, 'SIGKILL')"
  )
  t.equal(await ended, null)
  t.equal(output.out.match(/"line \d+"/g)?.length, 100)
})

t.test('a process whose log cannot be written goes on, and ends as usual', async (t) => {
  const main =
    "onClose(() => process.send('closed')); process.once('message', () => { for (let line = 1; line <= 10_000; line++) log.error({ err: new Error('why') }, 'failed'); log.fatal('failed'); process.send('goes on') }); process.send('started')"
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  for (const [what, stdout] of [['a full disk', full], ['a reader that ended', 'pipe']] as const) {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', scriptOf(main)], {
      stdio: ['ignore', stdout, 'inherit', 'ipc'],
      cwd: import.meta.dirname
    })
    const messages: unknown[] = []
    const ended = once(child, 'exit')
    child.on('message', (message) => {
      messages.push(message)
      if (message === 'started') {
        child.stdout?.destroy()
        child.send('log')
      }
      if (message === 'goes on') child.kill('SIGTERM')
    })
    t.same(await ended, [0, null], what)
    t.same(messages, ['started', 'goes on', 'closed'], what)
  }
})

t.test('an unhandled rejection is logged and ends the process', async (t) => {
  const { output, ended } = start(
    "onClose(() => log.info('closed')); log.info('started'); setTimeout(() => Promise.reject(new Error('forgotten')), 10)"
  )
  t.equal(await ended, 1)
  t.match(output.out, /fatal[^]*forgotten[^]*closed/)
})

t.test('a failed start prints the reason in one line and closes what was open', async (t) => {
  const occupied = createServer().listen(0, '127.0.0.1')
  await once(occupied, 'listening')
  t.teardown(() => occupied.close())
  const { port } = occupied.address() as AddressInfo
  const listen =
    `onClose(() => log.info('closed')); const server = createServer(); await new Promise((resolve, reject) => server.on('error', reject).listen(${port}, '127.0.0.1', resolve))`
  const cases: Array<[string, string, RegExp]> = [
    ['a port in use', listen, new RegExp(`^social cannot start: port ${port} on 127.0.0.1 is already in use\\n$`)],
    [
      'an invalid variable',
      "readConfig({ type: 'object', required: ['PORT'], properties: { ...ProcessEnvironment } })",
      /^social cannot start: PORT must be an integer\n$/
    ],
    [
      'a refused connection',
      "await new Promise((resolve, reject) => connect(1, '127.0.0.1', resolve).on('error', reject))",
      /^social cannot start: .*\n$/
    ]
  ]
  for (const [what, main, line] of cases) {
    const { output, ended } = start(main, { env: { PORT: 'eighty' } })
    t.equal(await ended, 1, what)
    t.match(output.err, line, what)
  }
})
