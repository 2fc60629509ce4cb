import { connect } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { defineError } from '@tandem/process-kit'
import t from 'tap'
import { Type } from 'typebox'
import { data, toErrorResponse } from './envelope.ts'
import { Body, Data, Id, Text } from './schemas.ts'
import type { Routes } from './server.ts'
import { bearer, silentLog, testServer } from './testing.ts'

const AlreadyLiked = defineError('ALREADY_LIKED', 400)
const headers = bearer('ana')

const routes: Routes = async (app) => {
  app.post('/feed/:id/like', {
    schema: {
      params: Type.Object({ id: Id }),
      body: Body({ note: Type.Optional(Text({ max: 10 })) }),
      response: { 200: Data(Type.Object({ note: Type.String() })) }
    }
  }, async ({ body }) => data({ note: body.note ?? '' }))
  app.post('/check', {
    schema: { body: Body({ email: Type.String({ format: 'email' }) }) },
    config: { public: true, validationCode: 'INVALID_EMAIL' }
  }, async () => data({}))
  app.get(
    '/throws',
    { config: { public: true }, schema: { querystring: Type.Object({ what: Type.String() }), errors: [AlreadyLiked] } },
    async ({ query }) => {
      if (query.what === 'declared') throw new AlreadyLiked()
      if (query.what === 'nothing') throw undefined as unknown as Error
      throw Object.assign(new Error('relation "accounts" is broken at 10.0.0.7'), { code: query.what })
    }
  )
}

t.test('what fails while an error is sent does not reach the client', async (t) => {
  const error = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const app = await testServer(t, routes, { log: Object.assign(Object.create(silentLog), { error }) })
  const response = await app.inject('/throws?what=XX000')
  t.equal(response.statusCode, 500)
  t.same(response.json(), { success: false, error: 'Something went wrong on our side', code: 'SERVER_ERROR' })
})

t.test('every error is sent in the envelope', async (t) => {
  const app = await testServer(t, routes)
  const json = { ...headers, 'content-type': 'application/json' }
  const cases = [
    ['an unknown path', { url: '/nowhere' }, 404, 'NOT_FOUND'],
    ['a path with a trailing slash', { url: '/throws/', headers }, 404, 'NOT_FOUND'],
    ['a method that the path does not support', { method: 'PUT', url: '/feed/1/like' }, 405, 'METHOD_NOT_ALLOWED'],
    ['a path with invalid percent-encoding', { method: 'POST', url: '/feed/%zz/like', headers }, 404, 'NOT_FOUND'],
    ['a path that is too long', { method: 'POST', url: `/feed/${'a'.repeat(500)}/like`, headers }, 404, 'NOT_FOUND'],
    ['a NUL in the path', { method: 'POST', url: '/feed/a%00b/like', headers }, 404, 'NOT_FOUND'],
    [
      'malformed JSON',
      { method: 'POST', url: '/feed/1/like', headers: json, payload: '{"note":' },
      400,
      'VALIDATION_ERROR'
    ],
    [
      'JSON of another shape',
      { method: 'POST', url: '/feed/1/like', headers: json, payload: '[1]' },
      400,
      'VALIDATION_ERROR'
    ],
    [
      'JSON null where something is required',
      { method: 'POST', url: '/check', headers: json, payload: 'null' },
      400,
      'INVALID_EMAIL'
    ],
    [
      'a body that is too large',
      { method: 'POST', url: '/feed/1/like', headers: json, payload: JSON.stringify({ note: 'a'.repeat(70_000) }) },
      413,
      'PAYLOAD_TOO_LARGE'
    ],
    [
      'another media type',
      { method: 'POST', url: '/feed/1/like', headers: { ...headers, 'content-type': 'text/plain' }, payload: 'hi' },
      415,
      'UNSUPPORTED_MEDIA_TYPE'
    ],
    [
      'a malformed media type',
      { method: 'POST', url: '/feed/1/like', headers: { ...headers, 'content-type': ';;' }, payload: 'hi' },
      415,
      'UNSUPPORTED_MEDIA_TYPE'
    ],
    [
      'an invalid field',
      { method: 'POST', url: '/feed/1/like', headers, payload: { note: 5 } },
      400,
      'VALIDATION_ERROR'
    ],
    [
      'an invalid field, where the route has its own validation code',
      { method: 'POST', url: '/check', payload: { email: 'x' } },
      400,
      'INVALID_EMAIL'
    ],
    [
      'a NUL in a field, where the route has its own validation code',
      { method: 'POST', url: '/check', payload: { email: 'a\0@example.com' } },
      400,
      'INVALID_EMAIL'
    ],
    ['no access token', { method: 'POST', url: '/feed/1/like' }, 401, 'UNAUTHORIZED'],
    ['an error that the route declares', { url: '/throws?what=declared' }, 400, 'ALREADY_LIKED'],
    ['a duplicate key', { url: '/throws?what=23505' }, 500, 'SERVER_ERROR'],
    ['a thrown value that is not an error', { url: '/throws?what=nothing' }, 500, 'SERVER_ERROR'],
    ['a NUL that reached Postgres', { url: '/throws?what=22021' }, 400, 'VALIDATION_ERROR'],
    ['a number that is out of range for Postgres', { url: '/throws?what=22003' }, 400, 'VALIDATION_ERROR'],
    ['Postgres shutting down', { url: '/throws?what=57P01' }, 503, 'SERVICE_UNAVAILABLE'],
    ['Postgres being read-only', { url: '/throws?what=25006' }, 503, 'SERVICE_UNAVAILABLE'],
    ['Postgres without disk space', { url: '/throws?what=53100' }, 503, 'SERVICE_UNAVAILABLE'],
    ['Postgres without memory', { url: '/throws?what=53200' }, 503, 'SERVICE_UNAVAILABLE'],
    ['a lost connection', { url: '/throws?what=08006' }, 503, 'SERVICE_UNAVAILABLE'],
    ['a refused connection', { url: '/throws?what=ECONNREFUSED' }, 503, 'SERVICE_UNAVAILABLE']
  ] as const
  for (const [what, request, status, code] of cases) {
    const answer = await app.inject(request as never)
    t.equal(answer.statusCode, status, what)
    t.match(answer.json(), { success: false, error: String, code }, what)
    t.strictSame(Object.keys(answer.json()).filter((key) => key !== 'details').sort(), ['code', 'error', 'success'])
    t.notMatch(answer.body, /accounts|10\.0\.0\.7|undefined/)
    t.match(answer.headers['content-type'], 'application/json')
    if (status === 503) t.equal(answer.headers['retry-after'], '1')
    if (status === 405) t.equal(answer.headers.allow, 'POST')
  }
})

t.test('a declared body that was never sent counts as empty', async (t) => {
  const app = await testServer(t, routes)
  const emptyOf = (type: string) => ({ 'content-type': type, 'content-length': '0' })
  for (
    const given of [
      {},
      { 'content-type': 'application/json' },
      ...['application/json', 'application/x-www-form-urlencoded', 'text/plain'].map(emptyOf)
    ]
  ) {
    const answer = await app.inject({ method: 'POST', url: '/feed/1/like', headers: { ...headers, ...given } })
    t.match(answer.json(), { success: true, data: { note: '' } }, JSON.stringify(given))
  }
  const nothing = await app.inject({
    method: 'POST',
    url: '/feed/1/like',
    headers: { ...headers, 'content-type': 'application/json' },
    payload: 'null'
  })
  t.match(nothing.json(), { success: true, data: { note: '' } })
})

t.test('errors without a code are recognized by name and message', async (t) => {
  const named = (name: string, message = 'x', more = {}) => Object.assign(new Error(message), { name, ...more })
  for (
    const error of [
      new Error('timeout exceeded when trying to connect'),
      new Error('Connection terminated unexpectedly'),
      new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }),
      named('NatsError', 'x', { code: 'TIMEOUT' }),
      named('MaxRetriesPerRequestError')
    ]
  ) t.equal(toErrorResponse(error).code, 'SERVICE_UNAVAILABLE', error.message)
  t.equal(toErrorResponse(named('NatsError', 'x', { code: 'BAD_SUBJECT' })).code, 'SERVER_ERROR')
  t.equal(toErrorResponse('text').code, 'SERVER_ERROR')
})

t.test('errors are in the language that the client prefers, and their codes are the same', async (t) => {
  const TooYoung = defineError<{ minAge: number }>('AGE_RESTRICTED.ageRestricted', 403)
  const WrongEmoji = defineError('VALIDATION_ERROR.notEmoji', 400, { fields: ['emoji'] })
  const Unknown = defineError('WITHOUT_TEXT', 409)
  const app = await testServer(t, async (app) => {
    for (
      const [path, error] of Object.entries({
        young: new TooYoung({ minAge: 18 }),
        emoji: new WrongEmoji(),
        unknown: new Unknown()
      })
    ) {
      app.get(`/${path}`, { config: { public: true }, schema: { hide: true } as object }, () => {
        throw error
      })
    }
  })
  const get = async (url: string, language = 'id-ID') =>
    (await app.inject({ url, headers: { 'accept-language': language } })).json()
  t.same(await get('/young'), {
    success: false,
    error: 'Anda harus berusia minimal 18 tahun untuk mencatat puasa',
    code: 'AGE_RESTRICTED'
  })
  t.same(await get('/young', 'de'), {
    success: false,
    error: 'You must be at least 18 years old to track fasts',
    code: 'AGE_RESTRICTED'
  })
  t.match(await get('/emoji'), {
    error: 'emoji harus berupa satu sampai empat emoji',
    details: [{ field: 'emoji', message: 'emoji harus berupa satu sampai empat emoji' }]
  })
  t.match(await get('/unknown'), { error: 'WITHOUT_TEXT' })
  const { headers } = await app.inject({ url: '/young', headers: { 'accept-language': 'id' } })
  t.equal(headers['content-language'], 'id')
  t.match(await get('/nowhere'), { error: 'Tidak ada apa pun di alamat ini', code: 'NOT_FOUND' })
})

t.test('malformed HTTP gets the error envelope too', async (t) => {
  const app = await testServer(t, routes)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sendRaw = async (text: string) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    }).on('error', () => {})
    socket.write(text)
    await once(socket, 'close')
    return { status: Number(answer.split(' ')[1]), body: JSON.parse(answer.split('\r\n\r\n')[1] ?? '') }
  }
  t.match(await sendRaw('GARBAGE\r\n\r\n'), { status: 400, body: { success: false, code: 'VALIDATION_ERROR' } })
  t.match(await sendRaw(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`), {
    status: 431,
    body: { success: false, code: 'PAYLOAD_TOO_LARGE' }
  })
  t.match(await sendRaw('GET / HTTP/1.1\r\nConnection: close\r\n\r\n'), {
    status: 404,
    body: { success: false, code: 'NOT_FOUND' }
  })
  t.match(await sendRaw('GET / HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nConnection: close\r\n\r\n'), {
    status: 404,
    body: { success: false, code: 'NOT_FOUND' }
  })
  t.match(await sendRaw('POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'), {
    status: 400,
    body: { success: false }
  })
})
