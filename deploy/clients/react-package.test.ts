import { realpathSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { createConsumer, listPackageProblems, moduleResolutions, root } from './consumer.ts'

// @tandem/react as its users get it: a tarball, beside the SDK, React and TanStack Query of their own.
const { run, pack, install, compile } = createConsumer(t)
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

t.test('it is loaded as a module beside React', async (t) => {
  const script = `import { useTandem } from '@tandem/react'
import { createElement } from 'react'
console.log(typeof useTandem, typeof createElement)`
  t.equal(await run(process.execPath, ['--input-type=module', '--eval', script]), 'function function\n')
})
