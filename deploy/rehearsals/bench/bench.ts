// Runs the benchmarks one after the other and writes their figures to docs/benchmarks.md: `npm run bench [-- names]`.
// With --check it fails if a goal is missed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { postgres } from '@tandem/local-servers/postgres.ts'
import { start } from '@tandem/local-servers/process.ts'
import { isMet, type Goal } from '@tandem/test-kit/goals'
import { writeReport } from './report.ts'
import { withTeardown } from '../kit/teardown.ts'

const root = path.resolve(import.meta.dirname, '../../..')

/** Those of this folder, and each file of a service's `bench/` that reports goals, as `social/main`. With arguments. */
const scripts = new Map<string, readonly string[]>([
  ['processes', ['deploy/rehearsals/bench/processes.ts']],
  ...globSync('services/*/bench/*.ts', { cwd: root }).sort().filter((file) =>
    readFileSync(path.join(root, file), 'utf8').includes('reportGoals(')
  ).map((file) => [file.replace(/^services\/(.*)\/bench\/(.*)\.ts$/, '$1/$2'), [file]] as const)
])

const { values, positionals } = parseArgs({ allowPositionals: true, options: { check: { type: 'boolean' } } })
const unknown = positionals.filter((name) => !scripts.has(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${[...scripts.keys()].join(', ')}`)
  process.exit(2)
}
const names = positionals.length > 0 ? positionals : [...scripts.keys()]

await withTeardown(async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-bench-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const databaseUrl = names.some((name) => name.includes('/')) ? await startPostgres(t, folder) : undefined
  const missed: string[] = []
  for (const name of names) {
    console.log(`\n${name}`)
    const results = path.join(folder, 'results')
    rmSync(results, { force: true })
    const hasFailed = await run(scripts.get(name) ?? [], {
      BENCH_RESULTS: results,
      ...databaseUrl && { DATABASE_URL: databaseUrl, TEST_DATABASE_URL: databaseUrl }
    })
    const goals = existsSync(results)
      ? readFileSync(results, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Goal)
      : []
    missed.push(...goals.filter((goal) => !isMet(goal)).map((goal) => `${name}: ${goal.name}`))
    if (hasFailed && goals.every(isMet)) throw new Error(`${name} failed`)
    if (goals.length > 0) writeReport(root, name, goals)
  }
  if (missed.length === 0) return
  console.log(`\nMissed:\n${missed.map((each) => `  ${each}\n`).join('')}`)
  if (values.check) process.exitCode = 1
})

async function run (script: readonly string[], environment: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, script, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: 'inherit'
  })
  const [code] = await once(child, 'exit') as [number | null]
  return code !== 0
}

async function startPostgres (t: { teardown: (close: () => unknown) => unknown }, folder: string) {
  const { recipe, url } = await postgres(path.join(folder, 'postgres'), {
    logFile: path.join(folder, 'postgres.log'),
    password: 'bench'
  })
  const running = await start(recipe)
  t.teardown(running.stop)
  return url()
}
