import { spawn, type ChildProcess } from 'node:child_process'
import path from 'node:path'
import { inspect, stripVTControlCharacters } from 'node:util'
import { Parser, type FinalResults, type Result } from 'tap-parser'
import { withParentDeathSignal } from '@tandem/local-servers/parent-death-signal.ts'
import { screen } from '@tandem/local-servers/screen.ts'

const root = path.resolve(import.meta.dirname, '../..')
const runner = path.join(import.meta.dirname, 'run-test-files.ts')
// Compiled modules are kept between test files, which saves a quarter of the start of each.
const compileCache = path.join(root, 'node_modules/.cache/node')
const BLOCKED_AFTER_MS = 25 * 60_000

export interface Failure {
  title: string
  diag: Record<string, unknown>
}

export interface FileResult {
  file: string
  passed: number
  failures: Failure[]
  skipped: string[]
  /** What it wrote besides TAP, on both streams. */
  output: string[]
  tookMs: number
}

export interface RunOptions {
  /** The next file to run, if there is one. */
  take: () => string | undefined
  /** Receives a file that was taken and has not started, as the process ended. */
  putBack: (file: string) => void
  env: NodeJS.ProcessEnv
  /** Receives the process. */
  track: (child: ChildProcess) => void
  /** Receives the result of each file as soon as it is known. */
  report: (result: FileResult) => void
}

/**
 * Runs test files in one process, one after the other, and reads its TAP. tap itself ends a test that exceeds its timeout.
 * If the process ends before a file does, that file has failed, and the others are left.
 */
export async function runTestFiles ({ take, putBack, env, track, report }: RunOptions): Promise<void> {
  const child = spawnRunner(env)
  track(child)
  // For a file that blocks the process; tap ends the others.
  const watchdog = setTimeout(() => child.kill('SIGKILL'), BLOCKED_AFTER_MS)

  let running: FileResult | undefined
  let hasStarted = false
  let ended: FileResult | undefined
  let since = 0
  let hasFailed = false
  let hasClosed = false
  const startNext = () => {
    const file = take()
    running = file === undefined ? undefined : emptyResult(file)
    hasStarted = false
    since = performance.now()
    watchdog.refresh()
    if (running) child.stdin.write(`${running.file}\n`)
    else child.stdin.end()
  }
  const end = (result: FileResult, failure?: Failure['diag']) => {
    if (failure) result.failures.push({ title: result.file, diag: failure })
    hasFailed ||= result.failures.length > 0
    report(result)
  }
  const addOutput = (text: string) => (running ?? ended)?.output.push(stripVTControlCharacters(text))

  const parser = new Parser()
  parser.on('extra', addOutput)
  // The test that has all files inside.
  parser.on('child', (all: Parser) => {
    all.on('child', (test: Parser) => {
      if (!running) return
      hasStarted = true
      readTest(running, test, [test.name])
      test.on('complete', () => {
        if (hasClosed || !running) return
        ended = { ...running, tookMs: performance.now() - since }
        startNext()
      })
    })
    // The line that closes a file. It is read when the next file starts, as more about it could follow.
    all.on('assert', (assertion: Result) => {
      if (!ended || assertion.name !== ended.file) return
      // It repeats the failures, unless it alone reports one.
      if (!assertion.ok && ended.failures.length === 0) count(ended, [ended.file], assertion)
      const isSilent = ended.passed + ended.failures.length + ended.skipped.length === 0
      // Most files have no test that a filter lets through.
      if (isSilent && 'TAP_GREP' in env) return
      end(ended, isSilent ? { error: 'has no test' } : undefined)
    })
  })
  child.stdout.pipe(parser, { end: false })
  child.stderr.setEncoding('utf8').on('data', addOutput)
  const closed = new Promise<FinalResults>((resolve) => {
    child.on('close', () => {
      hasClosed = true
      parser.on('complete', resolve).end()
    })
  })
  startNext()
  const final = await closed
  clearTimeout(watchdog)

  const { exitCode, signalCode: signal } = child
  const error = final.failures.map(({ tapError }) => tapError).join(', ') || undefined
  if (running && (hasStarted || !ended)) {
    end(running, { error, exitCode, signal })
  } else if (ended && !hasFailed && (exitCode !== 0 || !final.ok)) {
    // A process that crashes between two tests leaves only passed tests behind.
    end(emptyResult(ended.file), { error, exitCode, signal })
  }
  if (running && !hasStarted && ended) putBack(running.file)
}

function spawnRunner (env: NodeJS.ProcessEnv) {
  // If this process is killed, the kernel kills the test at once, and then the servers that the test started.
  const { program, rest } = withParentDeathSignal(process.execPath, [runner], 'SIGKILL')
  const child = spawn(program, rest, {
    cwd: root,
    // tap's timeout is that of all files of the process; each has its own.
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, TAP: '1', TAP_TIMEOUT: '0', ...env },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  // A process that the test left behind would hold the streams open.
  child.on('exit', () => setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), 2_000))
  // It may end before it reads the name of the next file.
  child.stdin.on('error', () => {})
  return child
}

const emptyResult = (file: string): FileResult => ({
  file,
  passed: 0,
  failures: [],
  skipped: [],
  output: [],
  tookMs: 0
})

/** Counts the assertions of a test. @param names its own and those of the tests around it */
function readTest (result: FileResult, test: Parser, names: string[]): void {
  let child = ''
  test.on('child', (parser: Parser) => {
    child = parser.name
    readTest(result, parser, [...names, child])
  })
  test.on('assert', (assertion: Result) => {
    // The line that closes a subtest repeats its assertions, unless it alone reports a failure.
    const own = [...names, assertion.name]
    const isFailedInside = result.failures.some(({ title }) => title.startsWith(`${own.join(' › ')} › `))
    const isRepeat = assertion.name === child && (assertion.ok || isFailedInside)
    if (!isRepeat) count(result, own, assertion)
  })
}

function count (result: FileResult, names: string[], { ok, todo, skip, diag }: Result) {
  const title = names.join(' › ')
  // A name that the filter of the run does not match.
  if (typeof skip === 'string' && skip.startsWith('filter: ')) return
  if (skip) result.skipped.push(`${title}: ${skip === true ? 'skipped' : skip}`)
  else if (!todo && ok) result.passed++
  else if (!todo) result.failures.push({ title, diag: (diag ?? {}) as Record<string, unknown> })
}

/** Prints the line of a file that ended, and what it wrote if it failed. */
export function showFile ({ file, failures, output, tookMs }: FileResult) {
  const line = `${file} ${Math.round(tookMs)} ms`
  if (failures.length === 0) screen.done(line)
  else screen.fail(line)
  if (failures.length > 0) indented(output.join(''))
}

export function showFailure ({ title, diag }: Failure) {
  screen.line()
  screen.fail(title)
  const { at, diff, found, wanted, stack, error, signal, exitCode } = diag
  const place = at as { fileName?: string, lineNumber?: number } | undefined
  if (place?.fileName) screen.line(`    at ${path.relative(process.cwd(), place.fileName)}:${place.lineNumber}`)
  if (typeof diff === 'string') indented(diff)
  else if (found !== undefined || wanted !== undefined) {
    indented(`wanted ${JSON.stringify(wanted)}\nfound  ${JSON.stringify(found)}`)
  }
  for (const [name, value] of Object.entries({ error, signal, exitCode })) {
    if (value !== undefined && value !== null) indented(`${name}: ${inspect(value)}`)
  }
  if (typeof stack === 'string') indented(stack)
}

function indented (text: string) {
  for (const line of text.trimEnd().split('\n')) if (line) screen.line(`    ${line}`)
}
