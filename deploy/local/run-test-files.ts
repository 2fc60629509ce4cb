// Runs the test files whose names come on the standard input, one after the other, each as a subtest that has the name of the
// file. In one process they share the modules they import: loading those takes two seconds of processor time, often more
// than the tests.
import { registerHooks } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { currentTest, startFile } from './current-test.ts'

// Only ends a test that hangs: a file with a system of its own takes two minutes, on a slow machine ten.
const FILE_TIMEOUT_MS = 20 * 60_000
const files = new Set<string>()

const urlOf = (module: string) => ({ url: new URL(module, import.meta.url).href, shortCircuit: true })
registerHooks({
  resolve (specifier, context, nextResolve) {
    // What a file imports as tap is its own subtest, so that its teardowns run and its timeout counts when the file ends.
    if (specifier === 'tap' && files.has(context.parentURL ?? '')) {
      return urlOf(`test-of-file.ts?of=${context.parentURL}`)
    }
    if (specifier === 'async-hook-domain') return urlOf('no-domain.ts')
    return nextResolve(specifier, context)
  }
})
const { default: t } = await import('tap')
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => currentTest().threw(error))
}

const environment = { ...process.env }
function restoreEnvironment () {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}

// tap ends by itself when no test runs, also while the next name is awaited, unless these are inside a test.
await t.test('files', async (all) => {
  for await (const file of createInterface({ input: process.stdin })) {
    const { href } = pathToFileURL(path.resolve(file))
    files.add(href)
    await all.test(file, { timeout: FILE_TIMEOUT_MS }, async (test) => {
      test.teardown(restoreEnvironment)
      startFile(test)
      await import(href)
    })
  }
})
// What files share ends now: it would keep the process alive.
t.end()
