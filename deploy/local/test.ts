import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { availableParallelism, setPriority, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { listAffected } from './affected.ts'
import { withParentDeathSignal } from '@tandem/local-servers/parent-death-signal.ts'
import { start, type Running } from '@tandem/local-servers/process.ts'
import { findPrograms } from '@tandem/local-servers/programs.ts'
import { UserError, screen } from '@tandem/local-servers/screen.ts'
import { postgres } from '@tandem/local-servers/postgres.ts'
import { runTestFiles, showFailure, showFile, type FileResult } from './test-file.ts'

const usage = `npm test                      types, format, lint, unused code, then every test
npm test -- <file|folder> …   only these tests
  --affected                  only the tests of what differs from origin/main, and of what depends on it or reads it
  --grep <pattern>            only the tests whose name matches the regular expression
  --inspect                   wait for a debugger before the first line of the given test file
npm run check                 types, format, lint and unused code only
npm run format                formats the TypeScript of the whole tree`

interface Tally {
  passed: number
  failed: number
}

// Besides those of tests that mostly wait. Who has no file of its own kind left runs those of the other.
const PROCESSES = availableParallelism() + 1
const WAITING_PROCESSES = availableParallelism()
// Half of those tests are the gateway's, and wait most of the time.
const SERIAL_PROCESSES = 2
// Of files in one process, which keeps what they import and leave behind: a hundred are a gigabyte.
const MAX_FILES = 50
// Of checks, which give way to tests. At 10, they would hardly end beside another busy program.
const NICE = 5
// tsc and tsgolint, written in Go, keep most of what they allocate: without garbage collection they take a third less CPU
// and a fifth more memory, 3 GB.
const NO_COLLECTION = { GOGC: 'off', GOMEMLIMIT: '4GiB' }
// A file system in memory, on Linux. Each test file creates and deletes a database of hundreds of files.
const MEMORY = '/dev/shm'
const NEEDED_MEMORY_BYTES = 4 * 1024 ** 3
const root = path.resolve(import.meta.dirname, '../..')
const cache = path.join(root, 'node_modules/.cache')
const { values: options, positionals } = readArguments()
const running = new Set<ChildProcess>()
if (options.format) process.exit(await run('dprint', ['fmt']))
const affected = options.affected ? listAffected(root) : { folders: [], files: [] }
const files = [
  ...new Set([
    ...positionals.flatMap((file) =>
      statSync(file, { throwIfNoEntry: false })?.isDirectory() ? testsBelow(file) : [file]
    ),
    ...affected.folders.flatMap(testsBelow),
    ...affected.files
  ])
]
const folder = mkdtempSync(path.join(hasMemoryForDatabases() ? MEMORY : tmpdir(), 'tandem-test-'))
let database: Running | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(signal, () => {
    for (const child of running) child.kill('SIGTERM')
    void end(1)
  })
}

try {
  const tally: Tally = { passed: 0, failed: 0 }
  if (options.inspect) await inspect(files)
  await Promise.all([
    files.length === 0 || options.affected ? runChecks(tally) : undefined,
    !options.check && (files.length > 0 || !options.affected) ? runTests(tally) : undefined
  ])
  screen.line()
  screen.line(`${tally.passed} passed, ${tally.failed} failed`)
  await end(tally.failed === 0 ? 0 : 1)
} catch (error) {
  screen.error(error instanceof UserError ? error.message : String((error as Error).stack))
  await end(1)
}

function readArguments () {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        check: { type: 'boolean' },
        format: { type: 'boolean' },
        affected: { type: 'boolean' },
        grep: { type: 'string', multiple: true, default: [] },
        inspect: { type: 'boolean' }
      }
    })
  } catch (error) {
    screen.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(1)
  }
}

/** Runs a program of the project. @returns its exit code */
async function run (program: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(path.join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  track(child)
  if (child.pid !== undefined) setPriority(child.pid, NICE)
  return await new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
}

/** Beside the tests, to which they give way. */
async function runChecks (tally: Tally) {
  await check('types', checkTypes, tally)
  await check('format', async () => await run('dprint', ['check', '--list-different']), tally)
  const folders = ['packages', 'gateway', 'services', 'deploy', 'examples']
  // As with tsc: on two threads of Go, tsgolint has the types twice, which takes two fifths more CPU.
  const env = { ...NO_COLLECTION, GOMAXPROCS: '1' }
  await check('lint', async () => await run('oxlint', ['--type-aware', '--quiet', ...folders], env), tally)
  const knip = ['--no-progress', '--no-config-hints']
  await check('unused files, exports and dependencies', async () => await run('knip', knip), tally)
}

/** A check after a small change takes only some seconds. @returns an exit code */
async function checkTypes () {
  let code = 0
  for (const [name, project] of [['all', '.'], ['expo', 'examples/expo']] as const) {
    // Each checker has its own copy of the types of libraries: one needs half of the memory, and less CPU.
    const incremental = ['--incremental', '--tsBuildInfoFile', path.join(cache, `${name}.tsbuildinfo`)]
    code = Math.max(code, await run('tsc', ['-p', project, '--checkers', '1', ...incremental], NO_COLLECTION))
  }
  return code
}

async function check (name: string, work: () => Promise<number>, tally: Tally) {
  const since = performance.now()
  if (await work() === 0) {
    tally.passed++
    screen.done(name, since)
  } else {
    tally.failed++
    screen.fail(name)
  }
}

/** Containers have only 64 MiB of it by default. Who sets TMPDIR wants the files there. */
function hasMemoryForDatabases () {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > NEEDED_MEMORY_BYTES
}

async function startDatabase () {
  findPrograms()
  const since = performance.now()
  const { recipe, url } = await postgres(path.join(folder, 'postgres'), {
    logFile: path.join(folder, 'postgres.log'),
    password: 'test',
    durable: false
  })
  database = await start(recipe)
  screen.done('postgres for the tests', since)
  return url
}

/** Runs one test file in a process that waits for a debugger, and exits with its exit code. */
async function inspect (files: string[]) {
  const [file] = files
  if (!file || files.length > 1) throw new UserError('--inspect takes one test file')
  const url = await startDatabase()
  const { program, rest } = withParentDeathSignal(process.execPath, ['--inspect-brk', file], 'SIGKILL')
  const child = spawn(program, rest, {
    cwd: root,
    env: { ...process.env, TEST_DATABASE_URL: url(), TAP_TIMEOUT: '0' },
    stdio: 'inherit'
  })
  track(child)
  await end(await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1))))
}

async function runTests (tally: Tally) {
  const url = await startDatabase()
  const { system, waiting, others, serial } = partition(
    files.length > 0 ? files : ['deploy', 'gateway', 'services', 'packages'].flatMap(testsBelow)
  )
  const env = { TEST_DATABASE_URL: url(), ...filterOf(options.grep) }
  const run = async (queues: string[][], processes: number) => await runQueues(queues, env, { processes })
  const sideBySide = await Promise.all([
    // What the tests of a system share ends with their process.
    run([system], 1).then(async (results) => [...results, ...await run([others], 1)]),
    run([others, waiting], PROCESSES - 1),
    run([waiting, others], WAITING_PROCESSES)
  ])
  const alone = await runQueues([serial], env, { processes: SERIAL_PROCESSES, filesEach: 1 })
  const results = [...sideBySide.flat(), ...alone]
  if (options.grep.length > 0 && results.length === 0) throw new UserError('No test has a name that matches')
  for (const skipped of results.flatMap(({ skipped }) => skipped)) screen.warn(`not run: ${skipped}`)
  const failures = results.flatMap(({ failures }) => failures)
  // Again, as the first time was many lines ago.
  for (const failure of failures) showFailure(failure)
  tally.passed += results.reduce((sum, { passed }) => sum + passed, 0)
  tally.failed += failures.length
}

/** The first patterns are for the test that has all files inside, and for the files, each of which is a test as well. */
function filterOf (patterns: string[]) {
  return patterns.length > 0 ? { TAP_GREP: ['', '', ...patterns].join('\n') } : {}
}

/** Remembers a process until it ends, so that an interrupted run can end it. */
function track (child: ChildProcess) {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

/** Each process takes its next file from the first queue that is not empty, until it had `filesEach`. */
async function runQueues (
  queues: string[][],
  env: NodeJS.ProcessEnv,
  { processes, filesEach = MAX_FILES }: { processes: number, filesEach?: number }
) {
  const results: FileResult[] = []
  const report = (result: FileResult) => {
    showFile(result)
    for (const failure of result.failures) showFailure(failure)
    results.push(result)
  }
  const putBack = (file: string) => queues[0]?.unshift(file)
  const runProcesses = async () => {
    while (queues.some((queue) => queue.length > 0)) {
      let left = filesEach
      const take = () => left-- > 0 ? queues.find((queue) => queue.length > 0)?.shift() : undefined
      await runTestFiles({ take, putBack, env, track, report })
    }
  }
  await Promise.all(Array.from({ length: processes }, runProcesses))
  return results
}

/**
 * Tests that measure short times are named `*.serial.test.ts`, and run when all others have ended, each in a process of
 * its own. Those that kill servers and wait for the consequences are named `*.waiting.test.ts`. Those that share a running
 * system are named `*.system.test.ts` and have one process, which takes the longest, so they begin.
 */
function partition (files: string[]) {
  for (const file of files) if (!existsSync(file)) throw new UserError(`There is no file ${file}`)
  const ofKind = (kind: string) => files.filter((file) => file.endsWith(`.${kind}.test.ts`))
  const [serial, waiting, system] = [ofKind('serial'), ofKind('waiting'), ofKind('system')]
  return { serial, waiting, system, others: files.filter((file) => ![...serial, ...waiting, ...system].includes(file)) }
}

function testsBelow (folder: string): string[] {
  return globSync('**/*.test.ts', { cwd: folder, exclude: ['**/node_modules/**'] }).map((file) =>
    path.join(folder, file)
  )
}

async function end (code: number) {
  await database?.kill()
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
