import path from 'node:path'
import { inspect, stripVTControlCharacters } from 'node:util'
import { Parser, type Result } from 'tap-parser'
import { screen } from './screen.ts'

export interface Tally { passed: number, failed: number }

interface Failure { title: string, diag: Record<string, unknown> }

/** Reads the runner's TAP: a line for each file as it ends, then `summary()` tells what failed, and how. */
export function tapReport () {
  const tally: Tally = { passed: 0, failed: 0 }
  const failures: Failure[] = []

  const readTest = (test: Parser, names: string[], noise: string[]): void => {
    let lastChild = ''
    test.on('child', (child: Parser) => {
      lastChild = child.name
      // The first level is the file, and one file's noise is shown only with its failures.
      const ownNoise = names.length === 0 ? [] : noise
      readTest(child, [...names, child.name], ownNoise)
      if (names.length === 0) child.on('complete', ({ ok, count, time }: { ok: boolean, count: number, time: number | null }) => {
        const took = time === null ? '' : ` ${Math.round(time)} ms`
        if (ok && count > 0) screen.done(`${child.name}${took}`)
        else {
          screen.fail(`${child.name}${took}`)
          for (const line of ownNoise) screen.line(`    ${line}`)
        }
      })
    })
    test.on('extra', (text: string) => noise.push(stripVTControlCharacters(text).trimEnd()))
    test.on('assert', (result: Result) => {
      // The line that closes a subtest repeats what its own lines said, unless it had none or ended badly.
      const closes = result.name === lastChild
      const diag = (result.diag ?? {}) as Record<string, unknown>
      const told = closes && (result.ok || failures.some(({ title }) => title.startsWith(`${[...names, result.name].join(' › ')} › `)))
      if (told || result.todo || result.skip) return
      if (result.ok) tally.passed++
      else {
        tally.failed++
        failures.push({ title: [...names, result.name].join(' › '), diag })
      }
    })
  }

  const parser = new Parser()
  readTest(parser, [], [])
  return { parser, tally, summary: () => { for (const failure of failures) show(failure) } }
}

function show ({ title, diag }: Failure) {
  screen.line()
  screen.fail(title)
  const { at, diff, found, wanted, stack, error, signal, exitCode } = diag
  const place = at as { fileName?: string, lineNumber?: number } | undefined
  if (place?.fileName) screen.line(`    at ${path.relative(process.cwd(), place.fileName)}:${place.lineNumber}`)
  if (typeof diff === 'string') indented(diff)
  else if (found !== undefined || wanted !== undefined) indented(`wanted ${JSON.stringify(wanted)}\nfound  ${JSON.stringify(found)}`)
  for (const [name, value] of Object.entries({ error, signal, exitCode })) if (value !== undefined && value !== null) indented(`${name}: ${inspect(value)}`)
  if (typeof stack === 'string') indented(stack)
}

function indented (text: string) {
  for (const line of text.trimEnd().split('\n')) screen.line(`    ${line}`)
}
