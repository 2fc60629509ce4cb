import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { start, type Running } from './process.ts'
import { findPrograms } from './programs.ts'
import { Refusal, screen } from './screen.ts'
import { postgres } from './servers.ts'
import { tapReport, type Tally } from './tap-report.ts'

// `npm test`: types, lint, then every test beside one throwaway Postgres. With files named, only those, without the first two.

const root = path.resolve(import.meta.dirname, '../..')
const files = process.argv.slice(2).flatMap((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() ? testsBelow(file) : [file])
const folder = mkdtempSync(path.join(tmpdir(), 'tandem-test-'))
let database: Running | undefined
let runner: ReturnType<typeof spawn> | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(signal, () => {
    runner?.kill('SIGTERM')
    void end(1)
  })
}

try {
  const tally: Tally = { passed: 0, failed: 0 }
  if (files.length === 0) {
    check('typecheck', ['tsc', '-p', '.'], tally)
    check('lint', ['oxlint', '--type-aware', '--quiet'], tally)
  }
  const tests = await runTests()
  tally.passed += tests.passed
  tally.failed += tests.failed
  screen.line()
  screen.line(`${tally.passed} passed, ${tally.failed} failed`)
  await end(tally.failed === 0 ? 0 : 1)
} catch (error) {
  screen.refuse(error instanceof Refusal ? error.message : String((error as Error).stack))
  await end(1)
}

function check (name: string, [program = '', ...args]: string[], tally: Tally) {
  const since = performance.now()
  const { status } = spawnSync(path.join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status === 0) {
    tally.passed++
    screen.done(name, since)
  } else {
    tally.failed++
    screen.fail(name)
  }
}

async function runTests (): Promise<Tally> {
  findPrograms()
  const since = performance.now()
  const { recipe, url } = await postgres(path.join(folder, 'postgres'), { logFile: path.join(folder, 'postgres.log'), password: 'test', durable: false })
  database = await start(recipe)
  screen.done('postgres for the tests', since)

  const { alone, beside } = sort(files.length > 0 ? files : ['gateway', 'services', 'packages', 'deploy'].flatMap(testsBelow))
  const tally: Tally = { passed: 0, failed: 0 }
  for (const [some, jobs] of [[beside, availableParallelism()], [alone, 1]] as const) {
    if (some.length === 0) continue
    const { passed, failed } = await runTap(url(), some, jobs)
    tally.passed += passed
    tally.failed += failed
  }
  return tally
}

/** Tests that kill servers, or measure time or memory, say so by a line: others beside them would be in what they measure. */
function sort (files: string[]) {
  for (const file of files) if (!existsSync(file)) throw new Refusal(`There is no file ${file}`)
  const isAlone = (file: string) => readFileSync(file, 'utf8').includes('// Runs alone')
  return { alone: files.filter(isAlone), beside: files.filter((file) => !isAlone(file)) }
}

async function runTap (url: string, files: string[], jobs: number): Promise<Tally> {
  const tap = [path.join(root, 'node_modules/tap/dist/esm/run.mjs')]
  const listed = spawnSync(process.execPath, [...tap, 'list', ...files], { cwd: root, encoding: 'utf8' })
  const report = tapReport(listed.stdout.split('\n').filter(Boolean))
  const child = runner = spawn(process.execPath, [...tap, '--reporter=tap', `--jobs=${jobs}`, ...files], {
    cwd: root, env: { ...process.env, TEST_DATABASE_URL: url }, stdio: ['ignore', 'pipe', 'inherit']
  })
  child.stdout.pipe(report.parser)
  const [code] = await Promise.all([
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
    new Promise((resolve) => report.parser.on('complete', resolve))
  ])
  report.summary()

  const { passed, failed } = report.tally
  if (passed + failed === 0) screen.fail('No test was run')
  // The runner knows of failures that no test can tell of, such as having found no file.
  return { passed, failed: Math.max(failed, code === 0 && passed > 0 ? 0 : 1) }
}

function testsBelow (folder: string): string[] {
  return globSync('**/*.test.ts', { cwd: folder, exclude: ['**/node_modules/**'] }).map((file) => path.join(folder, file))
}

async function end (code: number) {
  await database?.kill()
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
