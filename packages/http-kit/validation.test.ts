import t from 'tap'
import { Type } from 'typebox'
import { data } from './envelope.ts'
import { ValidationError } from './errors.ts'
import {
  Body,
  ClientDetail,
  ClientUrl,
  Cursor,
  Data,
  Enum,
  Id,
  Instant,
  IsoDate,
  NIL_UUID,
  Nullable,
  PageQuery,
  Secret,
  Text,
  Timestamp
} from './schemas.ts'
import type { Routes } from './server.ts'
import { bearer, testServer } from './testing.ts'

const headers = bearer('ana')
const uuid = '0190f3c2-7b6a-7cc1-9b1e-0242ac120002'

const fields = Body({
  name: Type.Optional(Text({ max: 5 })),
  device: Type.Optional(ClientDetail({ max: 10 })),
  password: Type.Optional(Secret({ min: 8, max: 20 })),
  born: Type.Optional(IsoDate),
  at: Type.Optional(Instant),
  url: Type.Optional(ClientUrl),
  mood: Type.Optional(Enum(['GOOD', 'BAD'])),
  owner: Type.Optional(Nullable(Id)),
  ids: Type.Optional(Type.Array(Id)),
  count: Type.Optional(Type.Integer()),
  weight: Type.Optional(Type.Number()),
  inner: Type.Optional(Body({ note: Text({ min: 0, max: 5 }) })),
  draft: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
})

const routes: Routes = async (app) => {
  app.post('/echo', { schema: { body: fields } }, async ({ body }) => data(body))
  app.get(
    '/page',
    { schema: { querystring: PageQuery({ mood: Type.Optional(Enum(['GOOD', 'BAD'])) }) } },
    async ({ query }) => data({ ...query })
  )
  app.get('/things/:id', { schema: { params: Type.Object({ id: Id }) } }, async ({ params }) => data(params))
  app.get('/moment', {
    schema: {
      response: { 200: Data(Type.Object({ at: Timestamp, until: Nullable(Timestamp), gone: Nullable(Timestamp) })) }
    }
  }, async () => data({ at: new Date(0), until: new Date(0), gone: null, email: 'never declared' }))
}

t.test('requests are cleaned, and undeclared fields are dropped', async (t) => {
  const app = await testServer(t, routes)
  const echo = async (payload: object) => (await app.inject({ method: 'POST', url: '/echo', headers, payload })).json()
  for (const at of ['2026-03-14T07:30:00+07:00', '2026-03-14T07:30+0700', ' 2026-03-14T00:30Z ']) {
    t.equal((await echo({ at })).data.at, '2026-03-14T00:30:00Z', at)
  }
  t.strictSame((await echo({ name: '  Ana ', role: 'ADMIN', inner: { note: ' ', userId: 'x' } })).data, {
    name: 'Ana',
    inner: { note: '' }
  })
  t.strictSame((await echo({ password: '  spaces  ' })).data, { password: '  spaces  ' })
  t.strictSame((await echo({ ids: [uuid.toUpperCase(), 'garbage'], owner: null })).data, {
    ids: [uuid, NIL_UUID],
    owner: null
  })
  t.strictSame((await echo({ owner: "1' or 1=1" })).data, { owner: NIL_UUID })
  t.strictSame(
    (await echo({ name: null, mood: null, inner: null, count: 1 })).data,
    { count: 1 },
    'null counts as missing for optional fields'
  )
  t.strictSame((await echo({ draft: { any: null } })).data, { draft: { any: null } })
  t.strictSame((await echo({ draft: { any: { thing: [1] } } })).data, { draft: { any: { thing: [1] } } })
})

t.test('what a client says about itself refuses nothing: controls become spaces, and the rest is cut', async (t) => {
  const app = await testServer(t, routes)
  const cases = [
    ['Pixel 9', 'Pixel 9'],
    ['  ', ''],
    ['\u0007\u001b[31m', '[31m'],
    ['a\r\nb\tc', 'a b c'],
    ['x'.repeat(5_000), 'x'.repeat(10)],
    ['123456789 0', '123456789'],
    ['📱'.repeat(20), '📱'.repeat(10)]
  ] as const
  for (const [device, kept] of cases) {
    const response = await app.inject({ method: 'POST', url: '/echo', headers, payload: { device } })
    t.strictSame(response.json().data, { device: kept })
  }
})

t.test('null becomes the default of a field that has one, and counts as missing for optional text with several formats', async (t) => {
  const body = Body({
    mood: Enum(['GOOD', 'BAD'], { default: 'GOOD' }),
    names: Type.Array(Text({ max: 5 }), { default: [] }),
    ends: Type.Optional(Type.Unsafe<string>({ type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] }))
  })
  const app = await testServer(t, async (app) => {
    app.post('/mood', { schema: { body } }, async ({ body }) => data(body))
  })
  const post = async (payload: object) => (await app.inject({ method: 'POST', url: '/mood', headers, payload })).json()
  t.strictSame((await post({ mood: null, names: null, ends: null })).data, { mood: 'GOOD', names: [] })
  t.strictSame((await post({ mood: 'BAD', names: ['Ana'], ends: '2026-12-01' })).data, {
    mood: 'BAD',
    names: ['Ana'],
    ends: '2026-12-01'
  })
  t.match(await post({ names: [null] }), { success: false, code: 'VALIDATION_ERROR' })
})

t.test('an invalid field is rejected with a message that names the field but not its value', async (t) => {
  const app = await testServer(t, routes)
  const cases: Array<[unknown, string]> = [
    [{ inner: { note: null } }, 'inner.note must be a string'],
    [{ name: '   ' }, 'name must not be empty'],
    [{ name: 'abcdef' }, 'name must have at most 5 characters'],
    [{ name: 7 }, 'name must be a string'],
    [{ password: 'short' }, 'password must have at least 8 characters'],
    [{ born: '2024-02-30' }, 'born must be a date such as 2026-01-31'],
    [{ born: '2024-02-01T00:00:00Z' }, 'born must be a date such as 2026-01-31'],
    [{ at: '2024-02-30T00:00:00Z' }, 'at must be a date and time such as 2026-01-31T08:00:00Z'],
    [{ url: 'javascript:alert(1)' }, 'url must be an http or https URL'],
    [{ url: 'https://user:pass@example.org/' }, 'url must be an http or https URL'],
    [{ url: 'file:///etc/passwd' }, 'url must be an http or https URL'],
    [{ url: `https://example.org/${'a'.repeat(2048)}` }, 'url must have at most 2048 characters'],
    [{ mood: 'FINE' }, 'mood must be one of GOOD, BAD'],
    [{ count: '5' }, 'count must be an integer'],
    [{ count: 1.5 }, 'count must be an integer'],
    [{ inner: {} }, 'inner.note is required'],
    [{ ids: [5] }, 'ids.0 must be a string']
  ]
  for (const [payload, error] of cases) {
    const answer = await app.inject({ method: 'POST', url: '/echo', headers, payload: payload as object })
    t.match(answer.json(), { success: false, code: 'VALIDATION_ERROR', error }, error)
    t.equal(answer.statusCode, 400)
  }
})

t.test('all invalid fields are listed at once, in the language of the client', async (t) => {
  const app = await testServer(t, async (app) => {
    await routes(app, {})
    const color = Text({
      max: 9,
      pattern: '^#[0-9a-f]{6}$',
      expectedFormat: 'color'
    })
    app.post(
      '/color',
      { schema: { body: Body({ inner: Body({ color }), size: Type.Integer() }) } },
      async () => data({})
    )
    app.post('/own', { schema: { body: Body({}) } }, async () => {
      throw new ValidationError('repsMaxMustBeAtLeastRepsMin', ['repsMax'])
    })
  })
  const post = async (url: string, payload: object, language = 'de') =>
    (await app.inject({ method: 'POST', url, headers: { ...headers, 'accept-language': language }, payload })).json()

  t.strictSame(await post('/echo', { name: 'abcdef', owner: 5, inner: {}, mood: 'FINE' }), {
    success: false,
    error: 'name must have at most 5 characters',
    code: 'VALIDATION_ERROR',
    details: [
      { field: 'name', message: 'name must have at most 5 characters' },
      { field: 'mood', message: 'mood must be one of GOOD, BAD' },
      { field: 'owner', message: 'owner must be a string' },
      { field: 'inner.note', message: 'inner.note is required' }
    ]
  })
  t.match(await post('/color', { inner: { color: 'red' } }, 'id-ID'), {
    error: 'size wajib diisi',
    details: [{ field: 'size', message: 'size wajib diisi' }, {
      field: 'inner.color',
      message: 'inner.color harus berupa warna seperti #ffffff'
    }]
  })
  t.match(await post('/color', { inner: { color: '' }, size: 1 }), {
    error: 'inner.color must be a color such as #ffffff'
  })
  t.match((await post('/echo', [] as never)).details, [{ field: 'body', message: 'The body must be an object' }])
  t.match((await post('/own', {})).details, [{ field: 'repsMax', message: 'repsMax must be at least repsMin' }])
  t.strictSame(await post('/own', {}, 'id'), {
    success: false,
    error: 'repsMax minimal sama dengan repsMin',
    code: 'VALIDATION_ERROR',
    details: [{ field: 'repsMax', message: 'repsMax minimal sama dengan repsMin' }]
  })
  t.match(await post('/echo', { name: '\0' }, 'id'), { error: 'Permintaan ini berisi karakter NUL' })
  const many = { ids: Array.from({ length: 60 }, () => 5) }
  t.equal((await post('/echo', many)).details.length, 20, 'and a client cannot make the list long')
})

t.test('values that Postgres cannot store are rejected anywhere', async (t) => {
  const app = await testServer(t, routes)
  const nested = (depth: number) => '{"draft":' + '{"a":'.repeat(depth) + '1' + '}'.repeat(depth) + '}'
  for (
    const payload of [
      '{"name":"a\\u0000"}',
      '{"name":"\\ud800"}',
      '{"draft":{"a\\u0000":1}}',
      '{"draft":{"a":["\\udc00"]}}',
      '{"weight":1e400}',
      nested(40),
      nested(8_000)
    ]
  ) {
    const answer = await app.inject({
      method: 'POST',
      url: '/echo',
      headers: { ...headers, 'content-type': 'application/json' },
      payload
    })
    t.equal(answer.statusCode, 400, payload.slice(0, 40))
    t.equal(answer.json().code, 'VALIDATION_ERROR')
  }
  t.equal((await app.inject({ url: '/page?mood=%00', headers })).statusCode, 400)
  t.equal(
    (await app.inject({
      method: 'POST',
      url: '/echo',
      headers: { ...headers, 'content-type': 'application/json' },
      payload: nested(20)
    })).statusCode,
    200
  )
})

t.test('a body cannot reach a prototype', async (t) => {
  const app = await testServer(t, routes)
  for (
    const payload of [
      '{"__proto__":{"role":"ADMIN"}}',
      '{"draft":{"__proto__":{"role":"ADMIN"}}}',
      '{"draft":{"constructor":{"prototype":{"role":"ADMIN"}}}}'
    ]
  ) {
    const answer = await app.inject({
      method: 'POST',
      url: '/echo',
      headers: { ...headers, 'content-type': 'application/json' },
      payload
    })
    t.notMatch(answer.body, 'ADMIN')
    t.equal(({} as { role?: string }).role, undefined)
  }
})

t.test('query values are coerced to their types', async (t) => {
  const app = await testServer(t, routes)
  const page = async (query: string) => (await app.inject({ url: `/page${query}`, headers })).json()
  t.strictSame((await page('')).data, { limit: 20 })
  t.strictSame((await page(`?limit=50&cursor=${uuid}`)).data, { limit: 50, cursor: uuid })
  t.strictSame((await page('?limit=50&cursor=')).data, { limit: 50 })
  t.strictSame((await page('?limit=1e1')).data, { limit: 10 })
  t.strictSame((await page('?limit=20.0')).data, { limit: 20 })
  for (
    const query of [
      '?limit=0',
      '?limit=51',
      '?limit=1.5',
      '?limit=x',
      '?limit=1&limit=2',
      '?cursor=x',
      '?mood=FINE',
      '?limit=1e309',
      '?limit=1e400',
      '?limit=Infinity',
      '?limit=-Infinity',
      '?limit=NaN',
      '?limit=0x10',
      '?limit=-0',
      '?limit=99999999999999999999',
      '?limit=%20',
      '?limit=1%00'
    ]
  ) {
    t.match(await page(query), { success: false, code: 'VALIDATION_ERROR' }, query)
  }
})

t.test('a malformed id is read as the nil uuid', async (t) => {
  const app = await testServer(t, routes)
  for (const id of ['1', 'null', '...', `${uuid}x`, '%F0%9F%92%A9']) {
    t.strictSame((await app.inject({ url: `/things/${id}`, headers })).json().data, { id: NIL_UUID }, id)
  }
})

t.test('an empty id is rejected', async (t) => {
  const app = await testServer(t, routes)
  for (const id of ['', ' ']) {
    t.match((await app.inject({ method: 'POST', url: '/echo', headers, payload: { ids: [id] } })).json(), {
      code: 'VALIDATION_ERROR',
      details: [{ field: 'ids.0', message: 'ids.0 must not be empty' }]
    })
  }
})

t.test('timestamps are written as ISO 8601, and undeclared fields are not sent', async (t) => {
  const app = await testServer(t, routes)
  const at = '1970-01-01T00:00:00.000Z'
  t.strictSame((await app.inject({ url: '/moment', headers })).json(), {
    success: true,
    data: { at, until: at, gone: null }
  })
})

t.test('a cursor keeps its format in the document', async (t) => {
  t.match(Cursor, { format: 'uuid' })
})

t.test('a body of very many values is 413 before it is parsed, whatever they are', async (t) => {
  const app = await testServer(t, async (app) => {
    const schema = { body: Body({ text: Type.String(), list: Type.Optional(Type.Array(Type.Integer())) }) }
    app.post('/', { bodyLimit: 1_000_000, schema }, async ({ body }) => data({ length: body.list?.length ?? 0 }))
    app.post('/many', { bodyLimit: 1_000_000, config: { maxBodyValues: 20_010 }, schema }, async () => data({}))
  })
  const post = async (rest: string, url = '/') =>
    await app.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      payload: `{"text":"",${rest}}`
    })
  const repeat = (value: string, count: number) => Array.from({ length: count }, () => value).join(',')
  const bodies = [
    `"list":[${repeat('1', 10_001)}]`,
    `"list":[${repeat('"x"', 10_001)}]`,
    `"other":[${repeat('[]', 10_001)}]`,
    `"other":${'['.repeat(10_001)}${']'.repeat(10_001)}`,
    Array.from({ length: 10_001 }, (_, n) => `"a${n}":1`).join(',')
  ]
  for (const body of bodies) {
    const answer = await post(body)
    t.equal(answer.statusCode, 413, body.slice(0, 20))
    t.match(answer.json(), { success: false, code: 'PAYLOAD_TOO_LARGE' })
  }
  t.match((await post(`"list":[${repeat('1', 9_990)}]`)).json(), { data: { length: 9_990 } })
  t.equal((await post(`"image":"${'A'.repeat(900_000)}"`)).statusCode, 200, 'a long text is one value')
  t.equal((await post(`"list":[${repeat('1', 20_000)}]`, '/many')).statusCode, 200, 'a route may accept more')
})

t.test('of thousands of wrong items, the first twenty are described', async (t) => {
  const app = await testServer(t, async (app) => {
    app.post('/', { schema: { body: Body({ list: Type.Array(Type.Integer()) }) } }, async () => data({}))
  })
  const payload = { list: Array.from({ length: 5_000 }, () => 'x') }
  const { details } = (await app.inject({ method: 'POST', url: '/', headers, payload })).json()
  t.equal(details.length, 20)
  t.match(details[19], { field: 'list.19', message: 'list.19 must be an integer' })
})
