// Measures a start and processes at rest, and writes the figures to docs/benchmarks.md: `npm run bench`. With --check it
// fails if a goal is missed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { isMet, type Goal } from '@tandem/test-kit/goals'
import { writeReport } from './report.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const { values: { check } } = parseArgs({ options: { check: { type: 'boolean' } } })

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-bench-'))
try {
  const results = path.join(folder, 'results')
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'processes.ts')], {
    env: { ...process.env, BENCH_RESULTS: results },
    stdio: 'inherit'
  })
  await once(child, 'exit')
  if (!existsSync(results)) throw new Error('the benchmark failed')
  const goals = readFileSync(results, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Goal)
  writeReport(root, 'processes', goals)
  const missed = goals.filter((goal) => !isMet(goal))
  if (missed.length > 0) console.log(`\nMissed:\n${missed.map(({ name }) => `  ${name}\n`).join('')}`)
  if (check && missed.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
