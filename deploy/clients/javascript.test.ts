import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { readSdkModules } from './javascript.ts'

t.test('the SDK needs nothing but the language and fetch, so it runs in browsers and React Native', (t) => {
  const modules = readSdkModules()
  t.ok(modules.has('index.js') && modules.has('generated/sdk.gen.js'))
  for (const [name, source] of modules) {
    for (const [, specifier = ''] of source.matchAll(/(?:\bfrom|\bimport)\s*\(?['"]([^'"]+)['"]/g)) {
      t.ok(modules.has(path.posix.join(path.posix.dirname(name), specifier)), `${name} imports ${specifier}`)
    }
    const withoutComments = source.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
    t.notMatch(
      withoutComments,
      /\b(process|Buffer|require|__dirname|setImmediate)\b\s*[.(]/,
      `${name} uses nothing of Node`
    )
    // React Native lacks them.
    t.notMatch(withoutComments, /AbortSignal\.(any|timeout)|structuredClone|Promise\.withResolvers/, name)
  }
  t.end()
})

t.test('it is published as JavaScript modules', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-sdk-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const node = (...args: string[]) =>
    execFileSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], { encoding: 'utf8' })
  node(path.join(import.meta.dirname, 'build-sdk.ts'), folder)
  const script = `import { createTandem, TandemError } from '${folder}/index.js'
    const error = await createTandem({ url: 'http://127.0.0.1:1', retries: { attempts: 1 } }).listFeed().catch((each) => each)
    console.log(error instanceof TandemError, error.code)`
  t.equal(node('--input-type=module', '-e', script).trim(), 'true NETWORK_ERROR')
  t.end()
})
