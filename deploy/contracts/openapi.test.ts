import t from 'tap'
import { compareDocuments, listUnreachable, readDocuments } from './openapi.ts'

const text = { type: 'string' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const object = (properties: object, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required
})

const operation = {
  operationId: 'changePost',
  parameters: [
    { name: 'id', in: 'path', required: true, schema: { type: 'string', enum: ['a', 'b'] } },
    { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } },
    { name: 'Idempotency-Key', in: 'header', schema: text }
  ],
  requestBody: {
    required: true,
    ...json(object({ content: text, visibility: { enum: ['PUBLIC', 'PRIVATE'] } }, ['content']))
  },
  responses: {
    200: json(object({ data: { $ref: '#/components/schemas/Post' } })),
    404: { ...json(object({ code: text })), 'x-error-codes': ['NOT_FOUND', 'POST_HIDDEN'] },
    default: { $ref: '#/components/responses/Failure' }
  }
}
const components = {
  schemas: { Post: object({ id: text, likesCount: { type: 'integer' } }) },
  responses: { Failure: json(object({ code: text })) }
}
const { 200: _, ...failures } = operation.responses
const documentOf = (changed: object = {}, path = '/feed/{id}', others: object = {}) => ({
  paths: { [path]: { post: { ...operation, ...changed } } },
  components: { ...components, ...others }
})
const body = (properties: object, required?: string[]) => ({
  requestBody: { required: true, ...json(object(properties, required)) }
})
const [id, limit, key] = operation.parameters
const visibility = { enum: ['PUBLIC', 'PRIVATE'] }

const withCodes = (...codes: string[]) =>
  documentOf({ responses: { ...operation.responses, 404: { ...operation.responses[404], 'x-error-codes': codes } } })

const cases: [change: string, after: ReturnType<typeof documentOf>, reported: string[]][] = [
  ['nothing', documentOf(), []],
  ['a removed path', { paths: {}, components } as never, ['POST /feed/{id} is gone']],
  ['a removed operation', { paths: { '/feed/{id}': { get: operation } }, components } as never, [
    'POST /feed/{id} is gone'
  ]],
  ['a new operation', { ...documentOf(), paths: { ...documentOf().paths, '/feed': { post: operation } } }, []],
  [
    'another name of a parameter of the path',
    documentOf({ parameters: [{ ...id, name: 'postId' }, limit, key] }, '/feed/{postId}'),
    []
  ],
  [
    'a removed value of a parameter of the path',
    documentOf({ parameters: [{ ...id, schema: { enum: ['a'] } }, limit, key] }),
    ['request: "path.1" no longer accepts "b"']
  ],
  ['a removed parameter', documentOf({ parameters: [id, limit] }), [
    'request: the field "header.idempotency-key" is gone'
  ]],
  [
    'a new optional parameter',
    documentOf({ parameters: [id, limit, key, { name: 'cursor', in: 'query', schema: text }] }),
    []
  ],
  [
    'a new required parameter',
    documentOf({ parameters: [id, limit, key, { name: 'cursor', in: 'query', required: true, schema: text }] }),
    ['request: the field "query.cursor" is new and required']
  ],
  [
    'a lower limit of a parameter',
    documentOf({ parameters: [id, { ...limit, schema: { type: 'integer', maximum: 20 } }, key] }),
    ['request: "query.limit" now accepts maximum 20 only']
  ],
  [
    'a new required field of a request',
    documentOf(body({ content: text, visibility, title: text }, ['content', 'title'])),
    ['request: the field "body.title" is new and required']
  ],
  ['a new optional field of a request', documentOf(body({ content: text, visibility, title: text }, ['content'])), []],
  ['a removed field of a request', documentOf(body({ content: text }, ['content'])), [
    'request: the field "body.visibility" is gone'
  ]],
  [
    'a removed value of an enumeration in a request',
    documentOf(body({ content: text, visibility: { enum: ['PUBLIC'] } }, ['content'])),
    ['request: "body.visibility" no longer accepts "PRIVATE"']
  ],
  ['another type in a request', documentOf(body({ content: { type: 'integer' }, visibility }, ['content'])), [
    'request: "body.content" no longer accepts string'
  ]],
  ['a form for a body', documentOf({ requestBody: { content: { 'multipart/form-data': { schema: object({}) } } } }), [
    'request: the field "body" is gone',
    'request: the field "form" is new and required'
  ]],
  ['a removed field of a response', documentOf({}, undefined, { schemas: { Post: object({ id: text }) } }), [
    '200: the field "data.likesCount" is gone'
  ]],
  [
    'a new field of a response',
    documentOf({}, undefined, { schemas: { Post: object({ id: text, likesCount: { type: 'integer' }, at: text }) } }),
    []
  ],
  [
    'another type in a response',
    documentOf({}, undefined, {
      schemas: { Post: object({ id: { type: 'integer' }, likesCount: { type: 'integer' } }) }
    }),
    ['200: "data.id" was string and is now integer']
  ],
  [
    'a field of a response that may be missing',
    documentOf({}, undefined, { schemas: { Post: object({ id: text, likesCount: { type: 'integer' } }, ['id']) } }),
    ['200: "data.likesCount" may now be missing']
  ],
  ['a change in a shared response', documentOf({}, undefined, { responses: { Failure: json(object({})) } }), [
    'default: the field "code" is gone'
  ]],
  [
    'a removed status',
    documentOf({ responses: { 201: operation.responses[200], ...failures } }),
    ['it no longer returns 200']
  ],
  [
    'another content type of a response',
    documentOf({ responses: { ...operation.responses, 200: { content: { 'text/html': {} } } } }),
    ['200: it no longer returns application/json']
  ],
  ['another name of the operation', documentOf({ operationId: 'editPost' }), [
    'clients call it "changePost", and it is now "editPost"'
  ]],
  ['another code of an error', withCodes('NOT_FOUND', 'HIDDEN'), ['404: it no longer has the code POST_HIDDEN']],
  ['a code of an error less', withCodes('NOT_FOUND'), []],
  ['a code of an error more', withCodes('NOT_FOUND', 'POST_HIDDEN', 'GONE'), []],
  ['a token that is needed now', documentOf({ security: [{ bearer: [] }] }), ['it now needs a bearer token']]
]

for (const [change, after, reported] of cases) {
  t.test(change, (t) => {
    t.same(
      compareDocuments(documentOf(), after),
      reported.map((line) => line.startsWith('POST') ? line : `POST /feed/{id}: ${line}`)
    )
    t.end()
  })
}

t.test('an operation that had no name gets one', (t) => {
  t.same(compareDocuments(documentOf({ operationId: undefined }), documentOf()), [])
  t.end()
})

t.test('a body that clients could leave out is required', (t) => {
  const before = documentOf({ requestBody: { ...operation.requestBody, required: false } })
  t.same(compareDocuments(before, documentOf()), ['POST /feed/{id}: request: "body" was optional and is now required'])
  t.same(compareDocuments(documentOf(), before), [])
  t.end()
})

t.test('a token that was needed before, or is not any more, is no obstacle', (t) => {
  t.same(compareDocuments(documentOf({ security: [{ bearer: [] }] }), documentOf({ security: [{ bearer: [] }] })), [])
  t.same(compareDocuments(documentOf({ security: [{ bearer: [] }] }), documentOf()), [])
  t.end()
})

t.test('a path that the gateway does not know, or sends to another service, is named', (t) => {
  const document = { paths: { '/bookmarks': {}, '/feed/{id}': {}, '/users/{id}': {} } }
  t.same(
    listUnreachable([{ name: 'social', document }, { name: 'profile', document: { paths: { '/users/me': {} } } }]),
    [
      'social serves /bookmarks, which the gateway does not know: add its prefix to social in gateway/routes.ts.',
      'profile serves /users/me, which the gateway sends to social: add its prefix to profile in gateway/routes.ts.'
    ]
  )
  t.end()
})

t.test('a document that a service cannot make is no empty one: the error says why', async (t) => {
  const app = `
    import { createServer } from '${import.meta.resolve('@tandem/http-kit')}'
    import { defineError } from '${import.meta.resolve('@tandem/process-kit')}'
    export async function createApp (_, options) {
      const app = await createServer({ name: 'bookings', ...options })
      app.get('/bookings', { schema: { errors: [defineError('NOT_FOUND.booking', 404)] } }, () => ({}))
      return app
    }`
  const root = t.testdir({ services: { bookings: { 'app.ts': app } } })
  await t.rejects(readDocuments(root), { message: 'brand/texts/en.json lacks errors.NOT_FOUND.booking' })
})
