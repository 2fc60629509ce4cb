import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { findPostgres, accessiblePrograms } from './postgres-programs.ts'
import { start } from './process.ts'
import { postgres, isPostgresReady } from './postgres.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

function folder (t: Test, mode: number) {
  const made = mkdtempSync(path.join(tmpdir(), 'tandem-programs-'))
  chmodSync(made, mode)
  t.teardown(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** The package's programs in a folder that only its owner may enter, as a clone in /root has them. */
async function givenClosedPrograms (t: Test) {
  const closed = folder(t, 0o700)
  const installed = path.resolve(path.dirname((await findPostgres()).postgres), '..')
  cpSync(installed, path.join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
  writeFileSync(path.join(closed, 'package.json'), '{ "version": "18.0.0" }')
  return {
    closed,
    programs: { initdb: path.join(closed, 'native/bin/initdb'), postgres: path.join(closed, 'native/bin/postgres') }
  }
}

t.test('Postgres starts with its programs and data below a folder that only root can enter', async (t) => {
  const { closed, programs } = await givenClosedPrograms(t)
  const server = await postgres(path.join(closed, 'data'), {
    logFile: path.join(closed, 'log'),
    password: 'secret',
    durable: false,
    programs: accessiblePrograms(programs, path.join(folder(t, 0o755), 'cache'))
  })
  const running = await start(server.recipe)
  t.teardown(running.kill)
  t.ok(await isPostgresReady(server.url()))
  if (isRoot) t.match(readFileSync(`/proc/${running.pid}/status`, 'utf8'), /^Uid:\t[1-9]/m, 'and not as root')
})

t.test('concurrent starts share one complete copy that only root can write to', async (t) => {
  const { programs } = await givenClosedPrograms(t)
  const cache = path.join(folder(t, 0o755), 'cache')
  const script =
    `process.umask(0o077); const { accessiblePrograms } = await import(process.argv[1]); console.log(accessiblePrograms(JSON.parse(process.argv[2]), process.argv[3]).postgres)`
  const args = [
    '--input-type=module',
    '-e',
    script,
    path.join(import.meta.dirname, 'postgres-programs.ts'),
    JSON.stringify(programs),
    cache
  ]
  const found = await Promise.all(
    Array.from({ length: 3 }, async () => (await run(process.execPath, args)).stdout.trim())
  )
  if (!isRoot) {
    return t.same(new Set(found), new Set([programs.postgres]), 'who is not root runs the programs where they are')
  }

  const copy = path.join(cache, `postgres-18.0.0-${process.arch}`)
  t.same(new Set(found), new Set([path.join(copy, 'bin/postgres')]))
  t.same(readdirSync(cache), [path.basename(copy)], 'no draft is left')
  for (const file of [cache, copy, found[0] ?? '']) {
    t.match(statSync(file), { uid: 0, mode: statSync(file).mode & ~0o777 | 0o755 }, 'whatever the umask')
  }
})

t.test('a folder that other users can write to is not used', async (t) => {
  const { programs } = await givenClosedPrograms(t)
  const cache = folder(t, 0o777)
  if (!isRoot) return t.same(accessiblePrograms(programs, cache), programs)
  t.throws(() => accessiblePrograms(programs, cache), /users other than root can write/)
  t.same(readdirSync(cache), [])
})
