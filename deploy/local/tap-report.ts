import path from 'node:path'
import { inspect, stripVTControlCharacters } from 'node:util'
import { Parser, type Result } from 'tap-parser'
import { screen } from './screen.ts'

export interface Tally {
  passed: number
  failed: number
}

const TIMEOUT = 'timeout!'

interface Failure {
  title: string
  diag: Record<string, unknown>
}

/** Reads the runner's TAP: prints a line for each file as it ends; `summary()` then prints skipped tests and
 * failures. */
export function tapReport (expected: string[]) {
  const missing = new Set(expected)
  const tally: Tally = { passed: 0, failed: 0 }
  const failures: Failure[] = []
  const skipped: string[] = []

  const count = (names: string[], { ok, todo, skip, diag }: Result) => {
    if (skip) skipped.push(`${names.join(' › ')}: ${skip === true ? 'skipped' : skip}`)
    if (todo || skip) return
    if (ok) tally.passed++
    else {
      tally.failed++
      failures.push({ title: names.join(' › '), diag: (diag ?? {}) as Record<string, unknown> })
    }
  }

  const readTest = (test: Parser, names: string[]): void => {
    let child = ''
    test.on('child', (parser: Parser) => {
      child = parser.name
      readTest(parser, [...names, child])
    })
    test.on('assert', (result: Result) => {
      // The line that closes a subtest repeats its assertions, unless it alone reports a failure.
      const own = [...names, result.name]
      const closes = result.name === child
      const isRepeat = closes && (result.ok || failures.some(({ title }) => title.startsWith(`${own.join(' › ')} › `)))
      if (!isRepeat) count(own, result)
    })
  }

  const readFiles = (runner: Parser): void => {
    let file = ''
    let noise: string[] = []
    let before = { ...tally }
    runner.on('child', (parser: Parser) => {
      file = parser.name
      noise = []
      before = { ...tally }
      readTest(parser, [file])
    })
    runner.on('extra', (text: string) => noise.push(stripVTControlCharacters(text).trim()))
    runner.on('assert', (result: Result) => {
      // After a file that timed out, tap may close another one by this name, or none.
      const name = result.name === TIMEOUT ? file : result.name
      file = ''
      missing.delete(name)
      if (!name) return
      const silent = tally.passed === before.passed
      if (!result.ok && tally.failed === before.failed) {
        count(result.name === name ? [name] : [name, result.name], result)
      }
      const took = result.time ? ` ${Math.round(result.time)} ms` : ''
      if (result.ok && !silent) return screen.done(`${name}${took}`)
      screen.fail(`${name}${took}${result.ok ? ' has no test' : ''}`)
      for (const line of noise) screen.line(`    ${line}`)
    })
  }

  const parser = new Parser()
  readFiles(parser)
  return {
    parser,
    tally,
    summary () {
      for (const each of skipped) screen.warn(`not run: ${each}`)
      for (const name of missing) {
        tally.failed++
        failures.push({ title: `${name} has no result: it, or a file that ran in parallel, timed out`, diag: {} })
      }
      for (const failure of failures) show(failure)
    }
  }
}

function show ({ title, diag }: Failure) {
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
  for (const line of text.trimEnd().split('\n')) screen.line(`    ${line}`)
}
