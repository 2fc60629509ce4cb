import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import t from 'tap'

const sdkFolder = path.resolve(import.meta.dirname, '../../packages/sdk-typescript')

t.test('the SDK needs nothing but the language and fetch, so it runs in browsers and React Native', (t) => {
  const modules = new Set(globSync(['*.ts', 'generated/**/*.ts'], { cwd: sdkFolder, exclude: ['*.test.ts'] }))
  t.ok(modules.has('index.ts') && modules.has('generated/sdk.gen.ts'))
  for (const name of modules) {
    const source = stripTypeScriptTypes(readFileSync(path.join(sdkFolder, name), 'utf8'))
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
