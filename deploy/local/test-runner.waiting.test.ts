import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { eventually, isAlive } from './dummy-system.ts'

const runner = path.join(import.meta.dirname, 'test.ts')

t.test('a killed run leaves no test and no server running', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = t.testdir()
  const pidFile = path.join(folder, 'pids')
  const file = path.join(folder, 'endless.ts')
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs'
    process.on('SIGTERM', () => {})
    writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
    setInterval(() => {}, 1_000)`
  )
  // What it leaves is deleted with the folder.
  const run = spawn(process.execPath, [runner, file], { stdio: 'ignore', env: { ...process.env, TMPDIR: folder } })
  t.teardown(() => run.kill('SIGKILL'))
  const test = await eventually(() => {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    // The file is empty for a moment.
    if (pid === 0) throw new Error('the test has not started')
    return pid
  })
  const children = readFileSync(`/proc/${run.pid}/task/${run.pid}/children`, 'utf8').trim().split(' ').map(Number)
  t.ok(children.length >= 2 && children.includes(test), 'the test and Postgres run')

  run.kill('SIGKILL')
  await eventually(() => {
    const left = children.filter(isAlive)
    if (left.length > 0) throw new Error(`still running: ${left.join(', ')}`)
  })
})

t.test('a filter selects tests by their names, and a file without such a test does not count', async (t) => {
  const folder = t.testdir({
    'likes.test.ts': `import t from 'tap'
      t.test('a like is counted', async (t) => { t.pass('counted'); t.pass('once') })
      t.test('a like is taken back', async (t) => { t.fail('not selected') })`,
    'posts.test.ts': `import t from 'tap'
      t.test('a post is deleted', async (t) => { t.fail('not selected') })`
  })
  const files = ['likes.test.ts', 'posts.test.ts'].map((file) => path.join(folder, file))
  const run = (pattern: string) =>
    spawnSync(process.execPath, [runner, '--grep', pattern, ...files], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: folder, TAP_GREP: undefined }
    })
  const counted = run('is counted')
  t.equal(counted.status, 0)
  t.match(counted.stdout, /^2 passed, 0 failed$/m)
  t.notMatch(counted.stdout, /posts|not run/)
  t.match(run('no such name'), { status: 1, stderr: /No test has a name that matches/ })
})

t.test('an error that nobody catches fails its file, and the next one runs', async (t) => {
  const folder = t.testdir()
  const write = (name: string, test: string) => {
    const file = path.join(folder, name)
    writeFileSync(file, `import t from 'tap'\nt.test('works', async (t) => { ${test} })`)
    return file
  }
  const late = 'await new Promise((resolve) => setTimeout(resolve, 500))'
  const files = [
    write('thrown.test.ts', `setTimeout(() => { throw new Error('thrown late') }); ${late}`),
    write('rejected.test.ts', `void Promise.reject(new Error('rejected late')); ${late}`),
    write('last.test.ts', 't.pass()')
  ]
  const { status, stdout } = spawnSync(process.execPath, [runner, ...files], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder }
  })
  t.equal(status, 1)
  for (const [file, message] of [['thrown', 'thrown late'], ['rejected', 'rejected late']]) {
    t.match(stdout, new RegExp(`✗ \\S*${file}\\.test\\.ts › ${message}`))
  }
  t.match(stdout, /✓ \S*last\.test\.ts/)
})

t.test('a process that ends fails the file that runs, and another process runs the next ones', async (t) => {
  const soon = 'await new Promise((resolve) => setTimeout(resolve, 100))'
  const test = (body: string) => `import t from 'tap'\nt.test('works', async (t) => { t.pass(); ${body} })`
  // One process runs all that are named so.
  const files = t.testdir({
    '1.system.test.ts': test(`${soon}; process.kill(process.pid, 'SIGKILL')`),
    '2.system.test.ts': test(`${soon}; process.exit()`),
    '3.system.test.ts': test('')
  })
  const { status, stdout } = spawnSync(process.execPath, [runner, files], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: files }
  })
  t.equal(status, 1)
  t.match(stdout, /✗ \S*1\.system\.test\.ts\n +signal: 'SIGKILL'/)
  t.match(stdout, /✗ \S*2\.system\.test\.ts › works › test unfinished/)
  t.match(stdout, /✓ \S*3\.system\.test\.ts/)
  t.match(stdout, /^\d+ passed, 2 failed$/m)
})
