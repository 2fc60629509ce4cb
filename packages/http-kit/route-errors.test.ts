import { execFile } from 'node:child_process'
import path from 'node:path'
import t from 'tap'
import { Type } from 'typebox'
import { defineError } from '@tandem/process-kit'
import { data } from './envelope.ts'
import { Body, Data, Enum, named } from './schemas.ts'
import type { Routes } from './server.ts'
import { testServer } from './testing.ts'

const AlreadyLiked = defineError('ALREADY_LIKED', 400)
const TooManyLikes = defineError('LIMIT_EXCEEDED.storyLimitExceeded', 429)

const Water = named('Water', Type.Object({ type: Enum(['WATER']), ml: Type.Integer() }))
const Sleep = named('Sleep', Type.Object({ type: Enum(['SLEEP']), minutes: Type.Integer() }))
const Log = named('Log', Type.Union([Water, Sleep]))
const example = { type: 'WATER' as const, ml: 300 }

const routes: Routes = async (app) => {
  app.post('/likes', {
    schema: { body: Body({}), errors: [AlreadyLiked, TooManyLikes], response: { 200: Data(Log) } }
  }, async () => data(example))
  app.get('/logs', {
    schema: { response: { 200: Data(Type.Array(Log, { examples: [[example]] })) } },
    config: { public: true }
  }, async () => data([example]))
}

t.test('an operation lists its own errors, and those that every operation can return', async (t) => {
  const app = await testServer(t, routes)
  const { paths, components } = (await app.inject('/openapi.json')).json()
  const { responses } = paths['/likes'].post
  t.same(Object.keys(responses), [
    '200',
    '400',
    '401',
    '403',
    '408',
    '413',
    '415',
    '426',
    '429',
    '500',
    '503',
    'default'
  ])
  t.same(responses[400]['x-error-codes'], ['VALIDATION_ERROR', 'ALREADY_LIKED'])
  t.match(responses[400].content['application/json'].examples.ALREADY_LIKED.value, {
    success: false,
    error: 'You already like this post',
    code: 'ALREADY_LIKED'
  })
  t.same(responses[429]['x-error-codes'], ['LIMIT_EXCEEDED', 'RATE_LIMITED'])
  t.match(responses[429].description, /limit of stories \(…\)/)
  t.match(responses[429].headers, { 'retry-after': {}, 'x-ratelimit-limit': {}, 'x-request-id': {} })
  t.same(responses[401], { $ref: '#/components/responses/Unauthorized' })
  t.match(components.schemas.ErrorCode.enum, ['ACCOUNT_RESTRICTED', 'ALREADY_LIKED', 'FORBIDDEN'])

  t.same(Object.keys(paths['/logs'].get.responses), ['200', '400', '426', '429', '500', '503', 'default'])
  t.same(paths['/logs'].get.security, [], 'a public operation says so')
})

t.test('a named schema is one component, and a union of them can be narrowed', async (t) => {
  const app = await testServer(t, routes)
  const { paths, components } = (await app.inject('/openapi.json')).json()
  const reference = { $ref: '#/components/schemas/Log' }
  const schemaOf = (path: string, method: string) =>
    paths[path][method].responses[200].content['application/json'].schema
  t.same(schemaOf('/likes', 'post').properties.data, reference)
  t.same(schemaOf('/logs', 'get').properties.data.items, reference)
  t.same(components.schemas.Log, {
    oneOf: [{ $ref: '#/components/schemas/Water' }, { $ref: '#/components/schemas/Sleep' }],
    discriminator: {
      propertyName: 'type',
      mapping: { WATER: '#/components/schemas/Water', SLEEP: '#/components/schemas/Sleep' }
    }
  })
  t.match((await app.inject('/logs')).json(), { data: [example] }, 'responses are serialized as before')
})

t.test('two different schemas cannot have one name', async (t) => {
  const app = await testServer(t, async (app) => {
    const responseOf = (schema: Type.TSchema) => ({ schema: { response: { 200: Data(named('Post', schema)) } } })
    app.get('/one', responseOf(Type.String()), async () => data('') as never)
    app.get('/other', responseOf(Type.Integer()), async () => data(1) as never)
  })
  await app.ready()
  t.throws(() => app.swagger(), { message: 'Two different schemas are named Post: rename one' })
})

t.test('a test that gets an error which the operation does not list fails, and names both', async (t) => {
  const file = path.join(import.meta.dirname, 'test/undocumented-error.ts')
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [file], (_error, stdout) => resolve(stdout))
  })
  t.match(output, /not ok .*GET \/likes returned 400 ALREADY_LIKED, which it does not list/)
})
