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

/**
 * Runs test files in one process, one after the other, and reads its TAP. tap itself ends a test that exceeds its
 * timeout. `track` receives the process.
 */
export async function runTestFiles (
  files: string[],
  { env, track }: { env: NodeJS.ProcessEnv, track: (child: ChildProcess) => void }
): Promise<FileResult[]> {
  // If the runner is killed, the kernel kills the test at once, and then the servers that the test started.
  const { program, rest } = withParentDeathSignal(process.execPath, [runner], 'SIGKILL')
  const child = spawn(program, rest, {
    cwd: root,
    // tap's timeout is that of all files of the process; each has its own.
    env: {
      NODE_COMPILE_CACHE: compileCache,
      ...process.env,
      TAP: '1',
      TAP_TIMEOUT: '0',
      TEST_FILES: JSON.stringify(files),
      ...env
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  track(child)
  // For a file that blocks the process; tap ends the others.
  const watchdog = setTimeout(() => child.kill('SIGKILL'), BLOCKED_AFTER_MS)
  // A process that the test left behind would hold the streams open.
  child.on('exit', () => setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), 2_000))
  const tap = readTap()
  tap.parser.on('child', () => watchdog.refresh())
  child.stdout.pipe(tap.parser)
  child.stderr.setEncoding('utf8').on('data', (text: string) => tap.addOutput(text))
  const [[exitCode, signal], final] = await Promise.all([
    new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.on('close', (code, signal) => resolve([code, signal]))
    ),
    new Promise<FinalResults>((resolve) => tap.parser.on('complete', resolve))
  ])
  clearTimeout(watchdog)

  const isSilent = ({ passed, failures, skipped }: FileResult) => passed + failures.length + skipped.length === 0
  // Most files have no test that a filter lets through.
  const isFiltered = 'TAP_GREP' in env
  const results = files.map((file) => tap.results.get(file) ?? emptyResult(file))
  for (const result of results.filter(isSilent)) {
    if (isFiltered && tap.results.has(result.file)) continue
    result.failures.push({ title: result.file, diag: { error: 'has no test', exitCode, signal } })
  }
  // A process that crashes between two tests leaves only passed tests behind.
  const hasFailed = results.some(({ failures }) => failures.length > 0)
  const last = [...tap.results.values()].at(-1)
  if (last && !hasFailed && (exitCode !== 0 || !final.ok)) {
    const error = final.failures.map(({ tapError }) => tapError).join(', ') || undefined
    last.failures.push({ title: last.file, diag: { error, exitCode, signal } })
  }
  return isFiltered ? results.filter((result) => !isSilent(result)) : results
}

const emptyResult = (file: string): FileResult => ({
  file,
  passed: 0,
  failures: [],
  skipped: [],
  output: [],
  tookMs: 0
})

/** Reads the results of files, each of which is a subtest, in the order in which they ran. */
function readTap () {
  const results = new Map<string, FileResult>()
  const addOutput = (text: string) => [...results.values()].at(-1)?.output.push(text)

  const count = (result: FileResult, names: string[], { ok, todo, skip, diag }: Result) => {
    const title = names.join(' › ')
    // A name that the filter of the run does not match.
    if (typeof skip === 'string' && skip.startsWith('filter: ')) return
    if (skip) result.skipped.push(`${title}: ${skip === true ? 'skipped' : skip}`)
    else if (!todo && ok) result.passed++
    else if (!todo) result.failures.push({ title, diag: (diag ?? {}) as Record<string, unknown> })
  }

  const readTest = (result: FileResult, test: Parser, names: string[]): void => {
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

  const parser = new Parser()
  let since = performance.now()
  parser.on('child', (test: Parser) => {
    const result = emptyResult(test.name)
    results.set(test.name, result)
    readTest(result, test, [test.name])
    test.on('complete', () => {
      result.tookMs = performance.now() - since
      since = performance.now()
    })
  })
  parser.on('assert', (assertion: Result) => {
    const result = results.get(assertion.name)
    // The line that closes a file repeats its failures, unless it alone reports one.
    if (result && !assertion.ok && result.failures.length === 0) count(result, [assertion.name], assertion)
  })
  parser.on('extra', (text: string) => addOutput(stripVTControlCharacters(text)))
  return { parser, results, addOutput }
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
