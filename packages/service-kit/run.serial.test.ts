// Runs alone: it gives processes a time to start and end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import t from 'tap'

const kit = new URL('./index.ts', import.meta.url).href

function start (main: string, { ipc = false, env = {} } = {}) {
  const script = `import { run, readConfig, ServiceEnvironment } from '${kit}'; import { createServer } from 'node:http'; import { connect } from 'node:net'; await run('social', async (onClose, log) => { ${main} })`
  const args = ['--input-type=module-typescript', '--eval', script]
  const stdio: Array<'pipe' | 'ipc'> = ipc ? ['pipe', 'pipe', 'pipe', 'ipc'] : ['pipe', 'pipe', 'pipe']
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...env }, cwd: import.meta.dirname })
  const said = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text) => { said.out += text })
  child.stderr?.setEncoding('utf8').on('data', (text) => { said.err += text })
  const ready = new Promise<void>((resolve) => { child.stdout?.on('data', () => { if (said.out.includes('started')) resolve() }) })
  // Not 'close', which never comes for a child whose channel has been disconnected.
  const ended = Promise.all([once(child, 'exit'), once(child.stdout as Readable, 'end'), once(child.stderr as Readable, 'end')]).then(([[code]]) => code as number)
  return { child, said, ready, ended }
}

const opens = "setInterval(() => {}, 1000); onClose(() => log.info('first closed')); onClose(() => { throw new Error('stuck') }); onClose(() => log.info('last closed')); log.info('started')"

t.test('on SIGTERM a process closes what it opened, the last first', async (t) => {
  const { child, said, ready, ended } = start(opens)
  await ready
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(said.out, /last closed[^]*could not close[^]*first closed/)
})

t.test('a process does not outlive the one that forked it', async (t) => {
  const { child, said, ready, ended } = start(opens, { ipc: true })
  await ready
  child.disconnect()
  t.equal(await ended, 0)
  t.match(said.out, 'first closed')
})

t.test('a rejection that nobody handles is logged, and ends the process', async (t) => {
  const { said, ended } = start("onClose(() => log.info('closed')); log.info('started'); setTimeout(() => Promise.reject(new Error('forgotten')), 10)")
  t.equal(await ended, 1)
  t.match(said.out, /fatal[^]*forgotten[^]*closed/)
})

t.test('a start that fails says why in a line, and closes what was open', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const listen = `onClose(() => log.info('closed')); const server = createServer(); await new Promise((resolve, reject) => server.on('error', reject).listen(${port}, '127.0.0.1', resolve))`
  const cases: Array<[string, string, RegExp]> = [
    ['a port that is taken', listen, new RegExp(`^social cannot start: port ${port} of 127.0.0.1 is taken\\n$`)],
    ['a variable that is wrong', "readConfig({ type: 'object', required: ['PORT'], properties: { ...ServiceEnvironment } })", /^social cannot start: PORT must be an integer\n$/],
    ['nobody listening', "await new Promise((resolve, reject) => connect(1, '127.0.0.1', resolve).on('error', reject))", /^social cannot start: .*\n$/]
  ]
  for (const [what, main, line] of cases) {
    const { said, ended } = start(main, { env: { PORT: 'eighty' } })
    t.equal(await ended, 1, what)
    t.match(said.err, line, what)
  }
})
