import t from 'tap'
import { listMissingExamples } from '@tandem/http-kit/testing'
import { testApp } from './test/app.ts'

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
const additions = [
  'put /feed/{id}',
  'get /feed/{id}/likes',
  'delete /feed/{id}/comment/{commentId}',
  'post /feed/{id}/vote',
  'get /hashtags/trending',
  'get /users/search',
  'get /users/{userId}',
  'get /users/by-username/{username}',
  'post /users/{userId}/follow',
  'delete /users/{userId}/follow',
  'get /users/{userId}/followers',
  'get /users/{userId}/following',
  'get /stories/{id}/viewers',
  'post /media'
]

interface Operation {
  summary?: string
  'x-extension'?: boolean
  security?: unknown
}

t.test('the document contains every route with its parameters and responses, and marks extensions', async (t) => {
  const { app } = await testApp(t)
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).filter(([path]) => !path.startsWith('/health'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const)
    )
  t.same(operations.map(([name]) => name).sort(), [...documented, ...additions].sort())
  for (const [name, operation] of operations) {
    t.ok(operation.summary, name)
    t.equal(operation['x-extension'] ?? false, additions.includes(name), name)
    t.same(operation.security, [{ bearer: [] }], name)
  }
})

t.test('every operation has a complete example of its request body and its response', async (t) => {
  const { app } = await testApp(t)
  t.strictSame(await listMissingExamples(app), [])
})
