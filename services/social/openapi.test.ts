import t from 'tap'
import { listMissingExamples } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

// The published API. Every other operation must be marked as an extension.
const documented = [
  'get /feed',
  'post /feed',
  'get /feed/{id}',
  'delete /feed/{id}',
  'post /feed/{id}/like',
  'delete /feed/{id}/like',
  'get /feed/{id}/comment',
  'post /feed/{id}/comment',
  'get /stories',
  'post /stories',
  'get /stories/{id}',
  'delete /stories/{id}',
  'post /stories/{id}/react'
]
interface Operation {
  summary?: string
  'x-extension'?: boolean
  security?: unknown
}

t.test('the document contains the published API, marks extensions, and names the authentication of each route', async (t) => {
  const { app } = await testApp(t)
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).filter(([path]) => !path.startsWith('/health'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const)
    )
  const published = operations.filter(([, operation]) => !operation['x-extension']).map(([name]) => name)
  t.same(published.sort(), documented.toSorted())
  for (const [name, operation] of operations) {
    t.ok(operation.summary, name)
    t.same(operation.security, [{ bearer: [] }], name)
  }
})

t.test('every operation has a complete example of its request body and its response', async (t) => {
  const { app } = await testApp(t)
  t.strictSame(await listMissingExamples(app), [])
})
