import { spawn } from 'node:child_process'
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
