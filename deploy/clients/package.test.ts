import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'
import { createConsumer, listPackageProblems, moduleResolutions, root } from './consumer.ts'

// The package as its users get it: a tarball that is installed outside of this repository.
const MAX_BUNDLE_BYTES = 15 * 1_024
const { run, write, pack, install, compile } = createConsumer(t)
const tarball = await pack('sdk-typescript')
await install({ '@tandem/sdk': 'file:sdk-typescript.tgz' })

const app = `import { createTandem, memoryStorage, paginate, TandemError, uploadOf, type Tandem } from '@tandem/sdk'

const tandem: Tandem = createTandem({ url: 'https://api.example.com', storage: memoryStorage() })
export async function start (file: Blob): Promise<string[]> {
  try {
    const { data: { media } } = await tandem.uploadMedia(uploadOf(file))
    await tandem.createPost({ body: { type: 'IMAGE', content: 'Done', mediaUrls: [media.url] } })
  } catch (error) {
    if (error instanceof TandemError && error.code === 'RATE_LIMITED') return [String(error.retryAfterSeconds)]
  }
  const contents: string[] = []
  const pages = paginate((cursor) => tandem.listFeed(cursor === undefined ? {} : { query: { cursor } }), ({ posts }) => posts)
  for await (const post of pages) contents.push(post.content)
  tandem.connectRealtime().on('message.created', ({ data }) => contents.push(data.matchId))
  return contents
}
`

t.test('the tarball has what is run and nothing else', async (t) => {
  const files = (await run('tar', ['-tzf', tarball])).trim().split('\n')
  t.ok(files.includes('package/dist/index.js') && files.includes('package/dist/index.d.ts'))
  t.ok(files.includes('package/README.md'))
  t.same(
    files.filter((file) => !/^package\/(?:dist\/.*\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file)),
    []
  )
})

t.test('npm, which would leave the sources as its modules, does not pack it', async (t) => {
  for (const name of ['sdk-typescript', 'sdk-react']) {
    await t.rejects(run('npm', ['pack', '--dry-run'], path.join(root, 'packages', name)), /Only pnpm/, name)
  }
})

t.test('publint and Are the types wrong? find nothing', async (t) => t.same(await listPackageProblems(tarball), []))

for (const [module, moduleResolution] of moduleResolutions) {
  t.test(`an app compiles in strict TypeScript with ${moduleResolution}`, async (t) => {
    await compile(`${moduleResolution}/app.ts`, app, { module, moduleResolution })
    t.pass('it compiles')
  })
}

t.test('a bundle for browsers is small, and has nothing that Node or a new engine alone offers', async (t) => {
  const entry = write('entry.js', "export { createTandem, memoryStorage } from '@tandem/sdk'")
  const { outputFiles: [bundle] } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser'
  })
  const text = bundle!.text
  const size = gzipSync(text).length
  t.ok(size <= MAX_BUNDLE_BYTES, `${size} bytes`)
  // Hermes, the engine of React Native, lacks them.
  t.notMatch(text, /node:|structuredClone|\(\?<[=!]|AbortSignal\.(?:any|timeout)/)
})

t.test('it runs where the parts of a URL cannot be set and there is no crypto, as in React Native', async (t) => {
  const script = write(
    'native.mjs',
    `
    for (const part of ['protocol', 'host', 'pathname', 'search', 'searchParams', 'href']) {
      const { get } = Object.getOwnPropertyDescriptor(URL.prototype, part)
      Object.defineProperty(URL.prototype, part, { get })
    }
    delete globalThis.crypto
    const { createTandem, memoryStorage, TandemError } = await import('@tandem/sdk')
    const refused = createTandem({ url: 'http://127.0.0.1:1', retries: { attempts: 1 } })
    const error = await refused.listFeed().catch((each) => each)
    console.log(error instanceof TandemError, error.code)
    const storage = memoryStorage()
    await storage.write({ accessToken: 'a.b.c', refreshToken: 'r' })
    class Native { constructor (url, protocols) { console.log(url, protocols.join()); process.exit(0) } }
    createTandem({ url: 'http://127.0.0.1:8080', storage }).connectRealtime({ WebSocket: Native })
    setTimeout(() => process.exit(1), 5_000)`
  )
  t.match(
    await run(process.execPath, [script]),
    /^true NETWORK_ERROR\nws:\/\/127\.0\.0\.1:8080\/api\/mobile\/v1\/realtime tandem\.v1,bearer\.a\.b\.c\n$/
  )
})

t.test('the version is that of the API', async (t) => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'packages/sdk-typescript/package.json'), 'utf8')) as {
    version: string
  }
  const { info } = JSON.parse(readFileSync(path.join(root, 'gateway/openapi.json'), 'utf8')) as {
    info: { version: string }
  }
  t.equal(version, info.version)
})
