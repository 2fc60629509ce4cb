import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { bundle } from './bundle.ts'
import { openBundles } from './cached.ts'

const run = promisify(execFile)
const logging = path.resolve(import.meta.dirname, '../../packages/process-kit/logging.ts')

/** A repository of one service; `files` by their path. */
async function givenRepository (t: Test, files: Record<string, string>) {
  const root = await mkdtemp(path.join(tmpdir(), 'tandem-bundle-'))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  for (const [file, text] of Object.entries({ 'services/runs/package.json': '{ "type": "module" }', ...files })) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  const open = async () => await openBundles(root, { runs: 'services/runs/main.ts' })
  const start = async () => {
    const { stdout } = await run(process.execPath, [path.join(await open(), 'runs.mjs')])
    return JSON.parse(stdout) as unknown
  }
  return { root, open, start }
}

t.test('a bundled module knows the place of its source', async (t) => {
  const { root, start } = await givenRepository(t, {
    'services/runs/main.ts': `
import old from './old.cjs'
import { place } from './places/place.ts'
console.log(JSON.stringify([import.meta.dirname, import.meta.filename, import.meta.url, place, old]))`,
    'services/runs/places/place.ts': 'export const place: string = import.meta.dirname',
    'services/runs/old.cjs': "'use strict'; module.exports = [__dirname, __filename, require('node:path').sep]"
  })
  const folder = path.join(root, 'services/runs')
  t.strictSame(await start(), [
    folder,
    `${folder}/main.ts`,
    `file://${folder}/main.ts`,
    `${folder}/places`,
    [folder, `${folder}/old.cjs`, '/']
  ])
})

t.test('a package with native code is loaded from where it is installed', async (t) => {
  const { start } = await givenRepository(t, {
    'services/runs/main.ts': `import { hash } from 'argon2'
console.log(JSON.stringify([hash, await import('sharp').catch((error) => error.code)]))`,
    'services/runs/node_modules/argon2/package.json': '{ "main": "main.cjs" }',
    'services/runs/node_modules/argon2/main.cjs': 'exports.hash = module.paths[0]'
  })
  t.match(await start(), [/services\/runs\/node_modules\/argon2\/node_modules$/, 'ERR_MODULE_NOT_FOUND'])
})

t.test('a package that is imported when it is needed has the names that Node finds in it', async (t) => {
  const { start } = await givenRepository(t, {
    'services/runs/main.ts': `import { now } from 'lazy'
const { later, default: all } = await import('lazy')
console.log(JSON.stringify([now, later, all.later]))`,
    'services/runs/node_modules/lazy/package.json': '{ "main": "main.js" }',
    'services/runs/node_modules/lazy/main.js': "exports.now = 'now'; exports.later = 'later'"
  })
  t.strictSame(await start(), ['now', 'later', 'later'])
})

t.test('bundled identity finds the list of common passwords', async (t) => {
  const folder = t.testdir()
  await bundle(path.resolve(import.meta.dirname, '../..'), {
    blocklist: 'services/identity/passwords/blocklist.ts'
  }, folder)
  const { createBlocklist } = await import(path.join(folder, 'blocklist.mjs')) as {
    createBlocklist: (isEnabled: boolean) => { assertUncommon: (password: string) => Promise<void> }
  }
  const blocklist = createBlocklist(true)
  await t.rejects(blocklist.assertUncommon('Password1'), { code: 'VALIDATION_ERROR' })
  await t.resolves(blocklist.assertUncommon('Correct-horse-7'))
})

t.test('a module that would resolve packages from the bundle is refused', async (t) => {
  const { open } = await givenRepository(t, {
    'services/runs/main.ts': "console.log(import.meta.resolve('lazy'))"
  })
  await t.rejects(open(), { message: /services\/runs\/main\.ts.*import\.meta\.resolve/s })
})

t.test('a log line names the sources of a bundled error', async (t) => {
  const { root, start } = await givenRepository(t, {
    'services/runs/main.ts': `import { createLogger } from '${logging}'
import { fail } from './fail.ts'
try { fail() } catch (err) { createLogger('runs', 'info', { write: (line) => console.log(line) }).error({ err }) }`,
    'services/runs/fail.ts': '\n\nexport function fail () {\n  throw new Error("no")\n}'
  })
  const { err } = await start() as { err: { stack: string } }
  t.match(err.stack, `at fail (${root}/services/runs/fail.ts:4:9)`)
  t.notMatch(err.stack, '.mjs')
})

t.test('of a package, a log line names the file, and maps contain nothing more of it', async (t) => {
  const { root, open, start } = await givenRepository(t, {
    'services/runs/main.ts': `import { createLogger } from '${logging}'
import { fail } from 'broken'
try { fail() } catch (err) { createLogger('runs', 'info', { write: (line) => console.log(line) }).error({ err }) }`,
    'services/runs/node_modules/broken/package.json': '{ "main": "main.js" }',
    'services/runs/node_modules/broken/main.js': `
exports.fail = function fail () { deeper() }
function deeper () { throw new Error('no') }
${'exports.other = (one, other) => one.and(other)\n'.repeat(200)}`
  })
  const { err } = await start() as { err: { stack: string } }
  t.match(err.stack, `at deeper (${root}/services/runs/node_modules/broken/main.js)`)
  t.match(err.stack, `${root}/services/runs/main.ts:3:7`)
  const map = await readFile(path.join(await open(), 'runs.mjs.map'), 'utf8')
  t.ok(map.length < 60_000, `${map.length} characters`)
})

t.test('a bundle is made once, and again after a change; two starts at once share it', async (t) => {
  const main = 'services/runs/main.ts'
  const { root, open, start } = await givenRepository(t, { [main]: 'console.log(1)' })
  const [first, second] = await Promise.all([open(), open()])
  t.equal(first, second)
  t.equal(await open(), first)

  await writeFile(path.join(root, main), 'console.log(2)')
  t.not(await open(), first)
  t.equal(await start(), 2)

  const lastYear = new Date(Date.now() - 365 * 24 * 3_600_000)
  await utimes(first, lastYear, lastYear)
  t.equal((await readdir(path.dirname(await open()))).length, 1, 'one that no start used for a week is removed')
})

t.test('an error of a source is named with its file and line', async (t) => {
  const { open } = await givenRepository(t, { 'services/runs/main.ts': 'const a = 1\nconst = 2' })
  await t.rejects(open(), { message: /services\/runs\/main\.ts:2:6: ERROR/ })
})
