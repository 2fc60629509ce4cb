import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { Type } from 'typebox'
import { requireRole } from './authentication.ts'
import { data } from './envelope.ts'
import { Unavailable } from '@tandem/process-kit'
import { Forbidden } from './errors.ts'
import { Body } from './schemas.ts'
import type { Routes } from './server.ts'
import { bearer, signToken, testKeys, testServer } from './testing.ts'

const routes: Routes = async (app) => {
  app.get('/me', async ({ account }) => data({ id: account.id, sessionId: account.sessionId, role: account.role }))
  app.get('/sessions', { config: { unauthorizedOnly: true } }, async () => data({}))
  app.get('/open', { config: { public: true } }, async ({ account }) => data({ known: account !== undefined }))
  app.get('/admin', { onRequest: requireRole('ADMIN') }, async () => data({}))
  app.post(
    '/admin',
    { onRequest: requireRole('ADMIN'), schema: { body: Body({ reason: Type.String() }), errors: [Forbidden] } },
    async () => data({})
  )
}

const now = () => Math.floor(Date.now() / 1000)
const claims = () => ({
  iss: 'tandem',
  aud: 'tandem',
  sub: 'ana',
  sid: 'phone',
  role: 'USER',
  iat: now(),
  exp: now() + 900
})
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

t.test('a route knows its caller', async (t) => {
  const app = await testServer(t, routes)
  const me = await app.inject({ url: '/me', headers: bearer('ana', { sessionId: 'phone', role: 'ADMIN' }) })
  t.strictSame(me.json().data, { id: 'ana', sessionId: 'phone', role: 'ADMIN' })
  t.strictSame((await app.inject('/open')).json().data, { known: false })
  t.equal(
    (await app.inject({
      url: '/me',
      headers: { authorization: bearer('ana').authorization.replace('Bearer', 'bearer') }
    })).statusCode,
    200
  )
})

t.test('a role grants access to its routes and nothing else', async (t) => {
  const app = await testServer(t, routes)
  t.equal((await app.inject({ url: '/admin', headers: bearer('ana', { role: 'ADMIN' }) })).statusCode, 200)
  t.match((await app.inject({ url: '/admin', headers: bearer('ana') })).json(), { success: false, code: 'FORBIDDEN' })
  for (const payload of [{ reason: 'good' }, {}, '{"broken']) {
    const headers = { ...bearer('ana'), 'content-type': 'application/json' }
    t.match((await app.inject({ method: 'POST', url: '/admin', headers, payload })).json(), {
      success: false,
      code: 'FORBIDDEN'
    }, 'whatever the body')
  }
})

t.test('missing and invalid tokens have different codes, unless the route opts out', async (t) => {
  const app = await testServer(t, routes)
  t.match((await app.inject('/me')).json(), { code: 'UNAUTHORIZED' })
  t.match((await app.inject({ url: '/me', headers: { authorization: 'Bearer x' } })).json(), {
    code: 'INVALID_ACCESS_TOKEN'
  })
  t.match((await app.inject('/sessions')).json(), { code: 'UNAUTHORIZED' })
  t.match((await app.inject({ url: '/sessions', headers: { authorization: 'Bearer x' } })).json(), {
    code: 'UNAUTHORIZED'
  })
})

t.test('forged tokens are rejected', async (t) => {
  const app = await testServer(t, routes)
  const attacker = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = await testKeys.find('test') as string
  const hmac = (header: object) => {
    const content = `${encode(header)}.${encode(claims())}`
    return `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`
  }
  const good = signToken(claims())
  const [head = '', body = '', signature = ''] = good.split('.')
  const jwk = createPublicKey(attacker.privateKey as never).export({ format: 'jwk' })

  const forged: Record<string, string> = {
    'alg none': `${encode({ alg: 'none', typ: 'at+jwt', kid: 'test' })}.${encode(claims())}.`,
    'alg none with a signature': `${encode({ alg: 'none', typ: 'at+jwt', kid: 'test' })}.${body}.${signature}`,
    'HS256 with the public key': hmac({ alg: 'HS256', typ: 'at+jwt', kid: 'test' }),
    'a key of its own in the header': signToken(claims(), { jwk }, attacker.privateKey),
    'an address of keys in the header': signToken(claims(), { jku: 'http://127.0.0.1/keys' }, attacker.privateKey),
    'a certificate in the header': signToken(claims(), { x5u: 'http://127.0.0.1/cert' }, attacker.privateKey),
    'a path as key id': signToken(claims(), { kid: '../../dev/null' }, attacker.privateKey),
    'SQL as key id': signToken(claims(), { kid: "' or 1=1 --" }, attacker.privateKey),
    'a prototype as key id': signToken(claims(), { kid: '__proto__' }),
    'no key id': signToken(claims(), { kid: undefined }),
    'another type': signToken(claims(), { typ: 'JWT' }),
    'another audience': signToken({ ...claims(), aud: 'elsewhere' }),
    'another issuer': signToken({ ...claims(), iss: 'elsewhere' }),
    'an identity token': signToken({
      iss: 'tandem',
      aud: 'tandem',
      sub: 'ana',
      email: 'ana@example.org',
      iat: now(),
      exp: now() + 900
    }, { typ: 'JWT' }),
    'no session': signToken({ ...claims(), sid: undefined }),
    'no owner': signToken({ ...claims(), sub: undefined }),
    'an owner that is no string': signToken({ ...claims(), sub: 7 }),
    'no time of issue': signToken({ ...claims(), iat: undefined }),
    'a time of issue that is no number': signToken({ ...claims(), iat: '1' }),
    'no expiry': signToken({ ...claims(), exp: undefined }),
    'an expiry that is no number': signToken({ ...claims(), exp: '9999999999' }),
    'a refresh token': Buffer.from('k'.repeat(32)).toString('base64url'),
    'long expired': signToken({ ...claims(), exp: now() - 10 }),
    'not yet valid': signToken({ ...claims(), nbf: now() + 60 }),
    'no signature': `${head}.${body}.`,
    'a signature cut short': `${head}.${body}.${signature.slice(0, -4)}`,
    'a changed signature': `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    'another owner': `${head}.${encode({ ...claims(), sub: 'ben' })}.${signature}`,
    'an extension that must be understood': signToken(claims(), { crit: ['b64'], b64: false }),
    'two tokens': `${good} ${good}`,
    'four parts': `${good}.x`
  }
  for (const [what, token] of Object.entries(forged)) {
    // Twice, because a rejected token must not be cached as valid.
    for (const _ of [1, 2]) {
      const answer = await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
      t.equal(answer.statusCode, 401, what)
      t.match(answer.json(), { success: false, code: 'INVALID_ACCESS_TOKEN' }, what)
    }
  }
  for (const authorization of ['', 'Bearer', `Basic ${good}`, good]) {
    t.match(
      (await app.inject({ url: '/me', headers: { authorization } })).json(),
      { code: 'INVALID_ACCESS_TOKEN' },
      authorization.slice(0, 10)
    )
  }
  t.equal((await app.inject({ url: '/me', headers: { authorization: `Bearer ${good}` } })).statusCode, 200)
})

t.test('a token with a look-alike letter is rejected outside of a header, too', async (t) => {
  const app = await testServer(t, routes)
  const good = signToken(claims())
  t.match(await app.verifyAccessToken(good), { kid: 'test' })
  const [head = '', body = '', signature = ''] = good.split('.')
  // Its code ends in the byte of the letter that it replaces.
  const altered = body.replace(/[a-z]/i, (letter) => String.fromCharCode(letter.charCodeAt(0) + 256))
  for (const token of [`${head}.${altered}.${signature}`, `${good}.x`, `${good}=`, good.replace(/-|_/, '+'), '']) {
    if (token !== good) {
      await t.rejects(app.verifyAccessToken(token), { code: 'INVALID_ACCESS_TOKEN' }, token.slice(-20))
    }
  }
})

t.test('only the token identifies the caller', async (t) => {
  const app = await testServer(t, routes)
  const claimed = {
    'x-user-id': 'ben',
    'x-internal-user': 'ben',
    forwarded: 'for=ben',
    'x-forwarded-user': 'ben',
    traceparent: 'x'.repeat(8_000)
  }
  t.equal((await app.inject({ url: '/me', headers: claimed })).statusCode, 401)
  t.match((await app.inject({ url: '/me', headers: { ...claimed, ...bearer('ana') } })).json(), { data: { id: 'ana' } })
})

t.test('a cached token still expires', async (t) => {
  const app = await testServer(t, routes)
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  // It stands still: on a busy machine more than the second that is left below can pass.
  const signedAt = now()
  Date.now = () => signedAt
  const headers = bearer('ana')
  t.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
  Date.now = () => signedAt + 904_000
  t.equal((await app.inject({ url: '/me', headers })).statusCode, 200, 'clocks may differ by 5 s')
  Date.now = () => signedAt + 906_000
  t.match((await app.inject({ url: '/me', headers })).json(), { code: 'INVALID_ACCESS_TOKEN' })
})

t.test('ten thousand spellings of one header are one token, which is verified once', async (t) => {
  let verifications = 0
  const keys = {
    ...testKeys,
    find: async (kid: string) => {
      verifications++
      return await testKeys.find(kid)
    }
  }
  const app = await testServer(t, routes, { keys })
  const token = signToken(claims())
  const capitals = Array.from(
    { length: 64 },
    (_, bits) => Array.from('bearer', (letter, at) => bits & 1 << at ? letter.toUpperCase() : letter).join('')
  )
  for (let i = 0; i < 10_000; i++) {
    const authorization = `${capitals[i % 64]}${' '.repeat(1 + Math.floor(i / 64))}${token}`
    const { statusCode } = await app.inject({ url: '/me', headers: { authorization } })
    if (statusCode !== 200) t.fail(`${statusCode} with ${authorization}`)
  }
  t.equal((await app.verifyAccessToken(token)).account.id, 'ana')
  t.equal(verifications, 1)
})

t.test('a token that is too long is rejected before its key is looked up', async (t) => {
  const keys = { ...testKeys, find: async () => t.fail('looked up') }
  const app = await testServer(t, routes, { keys: keys as never })
  const long = signToken({ ...claims(), filler: 'x'.repeat(2_000) })
  t.match((await app.inject({ url: '/me', headers: { authorization: `Bearer ${long}` } })).json(), {
    code: 'INVALID_ACCESS_TOKEN'
  })
  await t.rejects(app.verifyAccessToken(long), { code: 'INVALID_ACCESS_TOKEN' })
})

t.test('the newest ten thousand tokens are cached', async (t) => {
  const lookups: string[] = []
  const keys = {
    ...testKeys,
    find: async (kid: string) => {
      lookups.push(kid)
      return await testKeys.find(kid)
    }
  }
  const app = await testServer(t, routes, { keys })
  const tokens = Array.from({ length: 10_001 }, (_, i) => signToken({ ...claims(), sub: `person-${i}` }))
  for (const token of tokens) await app.verifyAccessToken(token)
  await app.verifyAccessToken(tokens.at(-1) as string)
  await app.verifyAccessToken(tokens[1] as string)
  t.equal(lookups.length, 10_001, 'are cached')
  await app.verifyAccessToken(tokens[0] as string)
  t.equal(lookups.length, 10_002, 'the oldest has left')
})

t.test('revoking a session invalidates its tokens at once', async (t) => {
  const ended = new Set<string>()
  const app = await testServer(t, routes, { isRevoked: (sessionId) => ended.has(sessionId) })
  const headers = bearer('ana', { sessionId: 'phone' })
  t.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
  ended.add('phone')
  t.match((await app.inject({ url: '/me', headers })).json(), { code: 'INVALID_ACCESS_TOKEN' })
})

t.test('a cached token of a retired key is rejected', async (t) => {
  let retired = false
  const keys = {
    ...testKeys,
    find: async (kid: string) => retired ? undefined : testKeys.find(kid),
    has: () => !retired
  }
  const app = await testServer(t, routes, { keys })
  const headers = bearer('ana')
  t.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
  retired = true
  t.match((await app.inject({ url: '/me', headers })).json(), { code: 'INVALID_ACCESS_TOKEN' })
})

t.test('without keys the response is 503, not 401', async (t) => {
  const keys = {
    ...testKeys,
    find: async () => {
      throw new Unavailable()
    },
    has: () => false
  }
  const app = await testServer(t, routes, { keys })
  const answer = await app.inject({ url: '/me', headers: bearer('ana') })
  t.equal(answer.statusCode, 503)
  t.match(answer.json(), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(answer.headers['retry-after'], '1')
})

t.test('a restricted account is refused until its restriction ends, except where it is accepted', async (t) => {
  const [app, open] = [await testServer(t, routes), await testServer(t, routes, { acceptsRestricted: true })]
  const until = (seconds: number) => ({
    authorization: `Bearer ${signToken({ ...claims(), res: now() + seconds })}`
  })
  const refused = await app.inject({ url: '/me', headers: until(60) })
  t.match([refused.statusCode, refused.json().code], [403, 'ACCOUNT_RESTRICTED'])
  t.equal((await app.inject({ url: '/me', headers: until(-1) })).statusCode, 200)
  t.equal((await open.inject({ url: '/me', headers: until(60) })).statusCode, 200)
  t.match(
    (await app.inject({
      url: '/me',
      headers: { authorization: `Bearer ${signToken({ ...claims(), res: 'never' })}` }
    })).json(),
    { code: 'INVALID_ACCESS_TOKEN' }
  )
})
