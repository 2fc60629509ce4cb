import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { transformAsync } from '@babel/core'
import { build, type Plugin } from 'esbuild'

const require = createRequire(import.meta.url)
const libraries = path.join(path.dirname(require.resolve('react-native/package.json')), 'Libraries')

/** The modules of React Native that are code of the phone, and what stands for them here. */
const natives: Record<string, string> = {
  'Blob/NativeBlobModule': 'none.ts',
  'EventEmitter/NativeEventEmitter': 'events.ts',
  'Network/RCTNetworking': 'networking.ts',
  'TurboModule/TurboModuleRegistry': 'registry.ts',
  'Utilities/Platform': 'platform.ts',
  'WebSocket/NativeWebSocketModule': 'sockets.ts'
}

/** Bundles a program that runs on React Native's own URL, fetch, FormData and WebSocket. @returns the file */
export async function bundleForReactNative (program: string, sdk: string) {
  const outfile = path.join(tmpdir(), `tandem-react-native-${process.pid}.mjs`)
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['main'],
    define: { __DEV__: 'false' },
    // `ws` and the modules of React Native call require.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    alias: {
      '@tandem/sdk': sdk,
      'react-native-runtime': path.join(import.meta.dirname, 'runtime.js')
    },
    plugins: [reactNative],
    logLevel: 'silent'
  })
  return outfile
}

const reactNative: Plugin = {
  name: 'react-native',
  setup (build) {
    build.onResolve({ filter: /^(?:\.|react-native\/)/ }, ({ path: name, resolveDir }) => {
      const file = name.startsWith('.') ? path.join(resolveDir, name) : require.resolve(name)
      const native = natives[path.relative(libraries, file).replace(/\.js$/, '')]
      return native === undefined ? undefined : { path: path.join(import.meta.dirname, native) }
    })
    // Its sources have the types of Flow.
    build.onLoad({ filter: /node_modules[\\/]react-native[\\/].*\.js$/ }, async ({ path: file }) => {
      const options = { disableImportExportTransform: true, enableBabelRuntime: false }
      const result = await transformAsync(readFileSync(file, 'utf8'), {
        filename: file,
        presets: [[require.resolve('@react-native/babel-preset'), options]],
        configFile: false
      })
      return { contents: result?.code ?? '', loader: 'js' }
    })
  }
}
