import path from 'node:path'
import t from 'tap'
import { listSdkModules, readSdkModule } from './javascript.ts'

t.test('the SDK needs nothing but the language and fetch, so it runs in browsers and React Native', (t) => {
  const modules = new Set(listSdkModules())
  t.ok(modules.has('index.js') && modules.has('generated/sdk.gen.js'))
  for (const name of modules) {
    const source = readSdkModule(name)
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
