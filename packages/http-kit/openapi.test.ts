import t from 'tap'
import { Type } from 'typebox'
import { data, message } from './envelope.ts'
import {
  Body,
  ClientDetail,
  ClientUrl,
  Data,
  Enum,
  Id,
  Message,
  NextCursor,
  Nullable,
  PageQuery,
  Text
} from './schemas.ts'
import { listMissingExamples, testServer } from './testing.ts'

t.test('the OpenAPI document describes the routes', async (t) => {
  const app = await testServer(t, async (app) => {
    app.get('/feed/:id', {
      schema: {
        summary: 'Read a post',
        params: Type.Object({ id: Id }),
        querystring: PageQuery(),
        response: { 200: Data(Type.Object({ id: Id, caption: Nullable(Type.String()) })) }
      }
    }, async ({ params }) => data({ id: params.id, caption: null }))
    app.post('/auth/check', {
      schema: {
        'x-extension': true,
        operationId: 'checkEmail',
        body: Body({
          text: Type.Optional(Text({ max: 5 })),
          model: Type.Optional(ClientDetail({ max: 5 })),
          url: Type.Optional(ClientUrl),
          mood: Type.Optional(Enum(['GOOD']))
        }),
        response: { 200: Message }
      },
      config: { public: true }
    }, async () => message('ok'))
  })
  const answer = await app.inject('/openapi.json')
  t.equal(answer.statusCode, 200)
  const document = answer.json()
  t.equal(document.openapi, '3.1.0')
  t.strictSame(Object.keys(document.paths), ['/feed/{id}', '/auth/check'])

  const read = document.paths['/feed/{id}'].get
  t.match(read, {
    tags: ['test'],
    security: [{ bearer: [] }],
    responses: { default: { $ref: '#/components/responses/Failure' } }
  })
  t.match(read.parameters.find(({ name }: { name: string }) => name === 'limit'), {
    required: false,
    schema: { minimum: 1, maximum: 50, default: 20 }
  })
  t.notOk(
    read.parameters.some((each: { required?: boolean, example?: unknown }) => !each.required && each.example),
    'no optional parameter is filled in by documentation pages'
  )
  t.match(read.responses[200].content['application/json'].schema.properties.data.properties.caption, {
    anyOf: [{ type: 'string' }, { type: 'null' }]
  })

  const check = document.paths['/auth/check'].post
  t.match(check, { operationId: 'checkEmail', 'x-extension': true, requestBody: { required: false } })
  t.same(check.security, [])
  t.strictSame(check.requestBody.content['application/json'].schema.properties.mood, { enum: ['GOOD'], type: 'string' })
  t.notMatch(answer.body, /opaqueId|cutTo|"transform"|client-url|"additionalProperties":false/)
  t.match(document.components.schemas.Failure.required, ['success', 'error', 'code'])
})

t.test('examples are built from their parts, and missing ones are listed', async (t) => {
  const app = await testServer(t, async (app) => {
    const Post = Type.Object({
      id: Id,
      caption: Nullable(Text({ max: 9, examples: ['Run'] })),
      likes: Type.Integer({ examples: [3] }),
      tags: Type.Array(Type.String({ examples: ['run'] }))
    })
    app.post('/feed', {
      schema: {
        body: Body({ mood: Enum(['GOOD', 'BAD']), size: Type.Optional(Type.Integer({ default: 7 })) }),
        response: { 200: Data(Type.Object({ posts: Type.Array(Post), nextCursor: NextCursor })) }
      }
    }, async () => data({ posts: [], nextCursor: null }))
    app.post(
      '/bare',
      { schema: { body: Body({ a: Body({ b: Type.String(), c: Id }) }), response: { 200: Message } } },
      async () => message('ok')
    )
    app.put('/wrong', {
      schema: { body: Body({ a: Type.Integer() }, { examples: [{ a: 'x' }] }), response: { 200: Message } }
    }, async () => message('ok'))
    app.put('/several', {
      schema: {
        body: Body({ a: Type.Integer() }, { examples: [{ a: 1 }, { a: 2 }, { a: 'x' }] }),
        response: { 200: Message }
      }
    }, async () => message('ok'))
    app.post('/photos', { schema: { fileField: 'photo', response: { 200: Message } } }, async () => message('ok'))
  })
  const { paths } = (await app.inject('/openapi.json')).json()
  const id = '019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'
  t.same(paths['/feed'].post.requestBody.content['application/json'].example, { mood: 'GOOD', size: 7 })
  t.same(paths['/feed'].post.responses[200].content['application/json'].example, {
    success: true,
    data: { posts: [{ id, caption: 'Run', likes: 3, tags: ['run'] }], nextCursor: id }
  })
  t.match(paths['/photos'].post.requestBody, {
    required: true,
    content: { 'multipart/form-data': { schema: { properties: { photo: { format: 'binary' } } } } }
  })
  const { examples, ...several } = paths['/several'].put.requestBody.content['application/json']
  t.same(Object.values(examples).map((each) => (each as { value: object }).value), [{ a: 1 }, { a: 2 }, { a: 'x' }])
  t.notOk('example' in several, 'the standard does not allow it together with examples')
  t.same(await listMissingExamples(app), [
    'POST /bare body: /a/b',
    'PUT /wrong body: data/a must be integer',
    'PUT /several body: data/a must be integer'
  ])
})
