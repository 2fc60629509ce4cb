import { readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { createConsumer, listPackageProblems, moduleResolutions, root } from './consumer.ts'

// @tandem/react as its users get it: a tarball, beside the SDK, React and TanStack Query of their own.
const { run, write, pack, install, compile } = createConsumer(t)
const tarball = await pack('sdk-react')
await pack('sdk-typescript')
const folderOf = (name: string) => `file:${realpathSync(path.join(root, 'packages/sdk-react/node_modules', name))}`
await install({
  '@tandem/react': 'file:sdk-react.tgz',
  '@tandem/sdk': 'file:sdk-typescript.tgz',
  ...Object.fromEntries(['@tanstack/react-query', '@types/react', 'react'].map((name) => [name, folderOf(name)]))
})

const app =
  `import { keys, TandemProvider, useChat, useFeed, useHome, useLike, useLog, useNotifications } from '@tandem/react'
import { createTandem, memoryStorage, type OutboxEntry } from '@tandem/sdk'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'

const client = new QueryClient()
const tandem = createTandem({ url: 'https://api.example.com' })
const outbox = memoryStorage<OutboxEntry[]>()

export const App = () => (
  <QueryClientProvider client={client}>
    <TandemProvider tandem={tandem} outbox={outbox}><Page matchId='m' /></TandemProvider>
  </QueryClientProvider>
)

function Page ({ matchId }: { matchId: string }) {
  const { home, query: { error } } = useHome()
  const { posts, query } = useFeed({ feedType: 'following' })
  const { messages, waiting, send, type } = useChat(matchId)
  const { unreadCount = 0 } = useNotifications()
  const like = useLike()
  const log = useLog()
  return (
    <main onClick={() => void log({ type: 'WATER', data: { ml: 250 } })} onKeyDown={type}>
      {error?.message ?? home?.stats.streak}{unreadCount}
      {posts?.map((post) => <p key={post.id} onClick={() => void like(post)}>{post.content}</p>)}
      {[...messages ?? [], ...waiting].map(({ id, content }) => <p key={id}>{content}</p>)}
      <button onClick={() => void send('Hello')}>{String(query.hasNextPage)}</button>
      <button onClick={() => void client.invalidateQueries({ queryKey: keys.home })}>Again</button>
    </main>
  )
}
`

t.test('the tarball has what is run and nothing else', async (t) => {
  const files = (await run('tar', ['-tzf', tarball])).trim().split('\n')
  t.ok(files.includes('package/dist/index.js') && files.includes('package/dist/index.d.ts'))
  t.same(
    files.filter((file) => !/^package\/(?:dist\/.*\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file)),
    []
  )
})

t.test('publint and Are the types wrong? find nothing', async (t) => t.same(await listPackageProblems(tarball), []))

for (const [module, moduleResolution] of moduleResolutions) {
  t.test(`an app of React compiles in strict TypeScript with ${moduleResolution}`, async (t) => {
    await compile(`${moduleResolution}/app.tsx`, app, { module, moduleResolution, jsx: 'react-jsx' })
    t.pass('it compiles')
  })
}

t.test('the example of the README compiles', async (t) => {
  const readme = readFileSync(path.join(root, 'packages/sdk-react/README.md'), 'utf8')
  const [, example = ''] = /^```tsx\n([^]*?)^```$/m.exec(readme) ?? []
  // What the example uses of React Native, which is not installed here.
  write(
    'readme/async-storage.d.ts',
    `declare const storage: {
  getItem: (key: string) => Promise<string | null>
  setItem: (key: string, value: string) => Promise<void>
  removeItem: (key: string) => Promise<void>
}
export default storage`
  )
  write(
    'readme/secure-store.d.ts',
    `export function getItemAsync (key: string): Promise<string | null>
export function setItemAsync (key: string, value: string): Promise<void>
export function deleteItemAsync (key: string): Promise<void>`
  )
  write(
    'readme/react-native.d.ts',
    `import type { ReactNode } from 'react'
export function Text (props: { children: ReactNode, onPress: () => void }): ReactNode`
  )
  await compile('readme/app.tsx', example, {
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    paths: {
      '@react-native-async-storage/async-storage': ['./async-storage.d.ts'],
      'expo-secure-store': ['./secure-store.d.ts'],
      'react-native': ['./react-native.d.ts']
    }
  })
  t.pass('it compiles')
})

t.test('it is loaded as a module beside React', async (t) => {
  const script = `import { useTandem } from '@tandem/react'
import { createElement } from 'react'
console.log(typeof useTandem, typeof createElement)`
  t.equal(await run(process.execPath, ['--input-type=module', '--eval', script]), 'function function\n')
})
