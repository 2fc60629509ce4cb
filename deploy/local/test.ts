import { spawn, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { start, type Running } from './process.ts'
import { findPrograms } from './programs.ts'
import { Refusal, screen } from './screen.ts'
import { postgres } from './servers.ts'
import { tapReport, type Tally } from './tap-report.ts'

// `npm test`: types, lint, then every test beside one throwaway Postgres. With files named, only those, without the first two.

const MOST_AGAIN = 8

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

  const first = await runTap(url(), files, availableParallelism())
  // Some tests kill servers, measure time or memory. Beside others they may fail by how busy the machine is, and alone they must not.
  const again = first.failedFiles
  if (first.failed === 0 || again.length === 0 || again.length > MOST_AGAIN) return first
  screen.line()
  screen.line(`${again.length} files failed; each is run once more, alone: ${again.join(', ')}`)
  const second = await runTap(url(), again, 1)
  return { passed: first.passed + second.passed, failed: second.failed }
}

async function runTap (url: string, files: string[], jobs: number) {
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
  return { passed, failed: Math.max(failed, code === 0 && passed > 0 ? 0 : 1), failedFiles: report.failedFiles() }
}

function testsBelow (folder: string): string[] {
  return globSync('**/*.test.ts', { cwd: folder, exclude: ['**/node_modules/**'] }).map((file) => path.join(folder, file))
}

async function end (code: number) {
  await database?.kill()
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
