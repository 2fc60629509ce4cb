import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import {
  createTandem,
  memoryStorage,
  paginate,
  TandemError,
  uploadOf,
  type TandemOptions,
  type Tokens
} from './index.ts'

type Answer = (request: IncomingMessage & { body: string }, response: ServerResponse) => void

const json = (status: number, body: object, headers: Record<string, string> = {}): Answer => (_request, response) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const success = json(200, { success: true, data: { posts: [], nextCursor: null } })
const failure = (status: number, code: string, headers = {}) =>
  json(status, { success: false, error: 'A sentence', code }, headers)
/** The request arrives, but its response is lost. */
const lost: Answer = (request) => request.socket.destroy()

/** A server that gives each request the next of these answers, and the last one from then on. */
async function serve (t: Test, answers: Answer[], options: Partial<TandemOptions> = {}) {
  const requests: (IncomingMessage & { body: string })[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const complete = Object.assign(request, { body: Buffer.concat(chunks).toString('latin1') })
      requests.push(complete)
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      answer?.(complete, response)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tandem = createTandem({ url, retries: { baseDelayMs: 1, timeoutMs: 5_000 }, ...options })
  return {
    tandem,
    requests,
    url,
    seen: () => requests.map(({ method, url }) => `${method} ${url?.replace('/api/mobile/v1', '')}`)
  }
}

const errorOf = async (work: Promise<unknown>) => {
  const error = await work.then(() => undefined, (error: unknown) => error)
  if (!(error instanceof TandemError)) throw new Error('it did not fail with a TandemError', { cause: error })
  return error
}
const signedIn = () => memoryStorage<Tokens>({ accessToken: 'old', refreshToken: 'r1' })
const renewed = json(200, { success: true, accessToken: 'new', refreshToken: 'r2', expiresIn: 900 })
/** Accepts the access token `new` only. */
const protectedRoute: Answer = (request, response) =>
  (request.headers.authorization === 'Bearer new' ? success : failure(401, 'INVALID_ACCESS_TOKEN'))(request, response)
const byPath = (paths: Record<string, Answer>): Answer => (request, response) =>
  (paths[request.url?.replace('/api/mobile/v1', '') ?? ''] ?? protectedRoute)(request, response)

t.test('safe requests are repeated after lost connections and 503, others are not', async (t) => {
  const reading = await serve(t, [lost, failure(503, 'SERVICE_UNAVAILABLE'), success])
  t.match(await reading.tandem.listFeed(), { success: true })
  t.equal(reading.requests.length, 3)
  const writing = await serve(t, [lost, success])
  t.match(await errorOf(writing.tandem.deletePost({ path: { id: 'x' } })), { code: 'NETWORK_ERROR', status: 0 })
  t.equal(writing.requests.length, 1)
  const failing = await serve(t, [lost])
  t.match(await errorOf(failing.tandem.listFeed()), { code: 'NETWORK_ERROR' })
  t.equal(failing.requests.length, 3)
})

t.test('an operation that accepts an idempotency key has one, and is repeated with the same', async (t) => {
  const { tandem, requests } = await serve(t, [lost, success])
  await tandem.createPost({ body: { type: 'TEXT', content: 'hello' } })
  const [first, second] = requests.map(({ headers, body }) => [headers['idempotency-key'], body])
  t.match(first?.[0], /^[0-9a-f-]{36}$/)
  t.same(first, second)
  await tandem.createPost({ body: { type: 'TEXT' }, headers: { 'idempotency-key': 'mine' } })
  t.equal(requests.at(-1)?.headers['idempotency-key'], 'mine')
})

t.test('Retry-After is waited for, unless it is too long', async (t) => {
  const { tandem, requests } = await serve(t, [failure(429, 'RATE_LIMITED', { 'retry-after': '1' }), success])
  const since = performance.now()
  await tandem.listFeed()
  t.ok(performance.now() - since >= 990)
  t.equal(requests.length, 2)
  const long = await serve(t, [failure(429, 'RATE_LIMITED', { 'retry-after': '3600' })])
  t.match(await errorOf(long.tandem.listFeed()), { code: 'RATE_LIMITED', retryAfterSeconds: 3_600 })
  t.equal(long.requests.length, 1)
})

t.test('an expired access token is renewed once for all requests, which then succeed', async (t) => {
  const storage = signedIn()
  const { tandem, seen } = await serve(t, [byPath({ '/auth/refresh': renewed })], { storage })
  await Promise.all([
    tandem.listFeed(),
    tandem.listFeed(),
    tandem.getCurrentUser(),
    tandem.deletePost({ path: { id: 'x' } })
  ])
  t.equal(seen().filter((each) => each === 'POST /auth/refresh').length, 1)
  t.same(await storage.read(), { accessToken: 'new', refreshToken: 'r2' })
})

t.test('a lost refresh is repeated with the same key, also by an app that was restarted', async (t) => {
  const storage = signedIn()
  let lostCount = 4
  const refresh: Answer = (request, response) => (lostCount-- > 0 ? lost : renewed)(request, response)
  const { tandem, requests, url } = await serve(t, [byPath({ '/auth/refresh': refresh })], { storage })
  t.match(await errorOf(tandem.listFeed()), { code: 'NETWORK_ERROR' })
  t.match(await storage.read(), { refreshToken: 'r1', refreshKey: String })
  await createTandem({ url, storage, retries: { baseDelayMs: 1 } }).listFeed()
  const keys = requests.filter(({ url }) => url?.endsWith('/refresh')).map(({ headers }) => headers['idempotency-key'])
  t.equal(keys.length, 5)
  t.equal(new Set(keys).size, 1)
})

t.test('three attempts of a refresh end within the minute in which the server takes a repeat', async (t) => {
  const { setTimeout } = globalThis
  const attempts: number[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (work: (...given: unknown[]) => void, ms: number, ...more: unknown[]) => {
      if (ms >= 15_000 && ms <= 30_000) attempts.push(ms)
      return setTimeout(work, ms === 15_000 ? 15 : ms, ...more)
    }
  })
  const silent: Answer = () => {}
  const storage = signedIn()
  const { tandem } = await serve(t, [byPath({ '/auth/refresh': silent })], { storage, retries: { baseDelayMs: 1 } })
  t.match(await errorOf(tandem.listFeed()), { code: 'TIMEOUT' })
  t.same(attempts, [30_000, 15_000, 15_000, 15_000])
})

t.test('a session that the server ended is forgotten; one that it cannot check now is not', async (t) => {
  let signedOutCount = 0
  const onSignedOut = () => signedOutCount++
  const ended = await serve(t, [byPath({ '/auth/refresh': failure(401, 'INVALID_REFRESH_TOKEN') })], {
    storage: signedIn(),
    onSignedOut
  })
  t.match(await errorOf(ended.tandem.listFeed()), { code: 'INVALID_ACCESS_TOKEN', status: 401 })
  t.equal(await ended.tandem.isSignedIn(), false)
  t.equal(signedOutCount, 1)
  const busy = await serve(t, [byPath({ '/auth/refresh': failure(503, 'SERVICE_UNAVAILABLE') })], {
    storage: signedIn(),
    onSignedOut
  })
  t.match(await errorOf(busy.tandem.listFeed()), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(await busy.tandem.isSignedIn(), true)
  t.equal(signedOutCount, 1)
})

const html = (status: number): Answer => (_request, response) => response.writeHead(status).end('<html>')

t.test('a session is not forgotten because a proxy refuses its refresh', async (t) => {
  const { tandem } = await serve(t, [byPath({ '/auth/refresh': html(401) })], { storage: signedIn() })
  await errorOf(tandem.listFeed())
  t.equal(await tandem.isSignedIn(), true)
})

t.test('a refresh that ends after a sign-out or another sign-in changes no tokens', async (t) => {
  const tokenOf = (sub: string, name: string) =>
    `h.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.${name}`
  const tokensOf = (sub: string, name: string) => ({ accessToken: tokenOf(sub, name), refreshToken: `${sub} ${name}` })
  for (const refreshStatus of [200, 401]) {
    for (const isSignIn of [true, false]) {
      const storage = memoryStorage<Tokens>(tokensOf('ana', 'old'))
      const refresh = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      const answers = byPath({
        '/auth/refresh': (request, response) => {
          begun.resolve()
          const answer = refreshStatus === 200
            ? json(200, { success: true, ...tokensOf('ana', 'new') })
            : failure(401, 'INVALID_REFRESH_TOKEN')
          void refresh.promise.then(() => answer(request, response))
        },
        '/auth/login': json(200, { success: true, ...tokensOf('ben', 'new'), user: {} })
      })
      const { tandem, requests } = await serve(t, [answers], { storage })
      const anas = errorOf(tandem.deletePost({ path: { id: 'x' } }))
      await begun.promise
      if (isSignIn) await tandem.signIn({ body: { email: 'ben@example.com', password: 'x' } })
      else await tandem.forget()
      refresh.resolve()
      t.match(await anas, { status: 401 }, 'what Ana asked for is not done as Ben')
      t.equal(requests.filter(({ method }) => method === 'DELETE').length, 1)
      t.same(await storage.read(), isSignIn ? tokensOf('ben', 'new') : undefined)
    }
  }
})

t.test('tokens that another tab renewed are used', async (t) => {
  let tokens: Tokens | undefined = { accessToken: 'old', refreshToken: 'r1' }
  const storage = {
    read: () => tokens,
    write: (changed: Tokens | undefined) => {
      tokens = changed
    }
  }
  const { tandem, seen } = await serve(t, [(request, response) => {
    tokens = { accessToken: 'new', refreshToken: 'r2' }
    protectedRoute(request, response)
  }], { storage })
  await tandem.listFeed()
  t.same(seen(), ['GET /feed', 'GET /feed'])
})

t.test('the tokens of a sign-in are stored and used, and those of a sign-out removed', async (t) => {
  const { tandem, requests } = await serve(t, [byPath({
    '/auth/login': json(200, { success: true, accessToken: 'new', refreshToken: 'r2', user: {} }),
    '/auth/logout': json(200, { success: true, message: 'Done' })
  })])
  await tandem.signIn({ body: { email: 'ana@example.com', password: 'x' } })
  await tandem.listFeed()
  t.equal(requests.at(-1)?.headers.authorization, 'Bearer new')
  await tandem.signOut({ body: {} })
  t.equal(await tandem.isSignedIn(), false)
})

t.test('an account that was to be deleted is kept with the token of the refused sign-in', async (t) => {
  const refused = {
    success: false,
    error: 'A sentence',
    code: 'ACCOUNT_DELETION_PENDING',
    restoreToken: 'k',
    eraseAt: 'e'
  }
  const { tandem } = await serve(t, [byPath({
    '/auth/login': json(403, refused),
    '/account/deletion/cancel': json(200, { success: true, accessToken: 'new', refreshToken: 'r2', user: {} })
  })])
  const { restoreToken = '', eraseAt } = await errorOf(
    tandem.signIn({ body: { email: 'ana@example.com', password: 'x' } })
  )
  t.same([restoreToken, eraseAt], ['k', 'e'])
  await tandem.cancelAccountDeletion({ body: { restoreToken } })
  t.match(await tandem.listFeed(), { success: true }, 'they are signed in')
})

t.test('the refusal of an old version says where to get a newer one', async (t) => {
  const body = { success: false, error: 'A sentence', code: 'UPGRADE_REQUIRED', storeUrl: 'https://store.example' }
  const { tandem } = await serve(t, [json(426, body)])
  t.match(await errorOf(tandem.listFeed()), { code: 'UPGRADE_REQUIRED', storeUrl: 'https://store.example' })
})

t.test('errors have the code, the fields that are wrong and the id of the request', async (t) => {
  const details = [{ field: 'email', message: 'email is required' }]
  const body = { success: false, error: 'email is required', code: 'VALIDATION_ERROR', details }
  const { tandem } = await serve(t, [json(400, body, { 'x-request-id': 'abc' })])
  t.match(await errorOf(tandem.listFeed()), {
    message: 'email is required',
    code: 'VALIDATION_ERROR',
    status: 400,
    details,
    requestId: 'abc'
  })
  const proxied = await serve(t, [html(502)])
  t.strictSame((await errorOf(proxied.tandem.listFeed())).details, [])
  t.match(await errorOf(proxied.tandem.listFeed()), { code: 'INVALID_RESPONSE', status: 502 })
})

t.test('a request can be aborted, and does not wait forever', async (t) => {
  const { tandem } = await serve(t, [() => {}], { retries: { attempts: 1, timeoutMs: 50 } })
  t.match(await errorOf(tandem.listFeed()), { code: 'TIMEOUT' })
  const controller = new AbortController()
  const patient = await serve(t, [() => controller.abort()])
  t.match(await errorOf(patient.tandem.listFeed({ signal: controller.signal })), { code: 'ABORTED' })
  t.equal(patient.requests.length, 1)
})

t.test('garbage that is collected meanwhile keeps no request from ending', async (t) => {
  setFlagsFromString('--expose-gc')
  const collecting = setInterval(runInNewContext('gc') as () => void, 5)
  t.teardown(() => clearInterval(collecting))
  const { tandem } = await serve(t, [() => {}], { retries: { attempts: 1, timeoutMs: 200 } })
  t.match(await errorOf(tandem.listFeed()), { code: 'TIMEOUT' })
  const controller = new AbortController()
  const once = { attempts: 1, timeoutMs: 5_000 }
  const patient = await serve(t, [() => setTimeout(() => controller.abort(), 200)], { retries: once })
  t.match(await errorOf(patient.tandem.listFeed({ signal: controller.signal })), { code: 'ABORTED' })
})

/** The response begins and then stands still, or its connection is lost. */
const halfOf = (isLost: boolean): Answer => (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"success":')
  if (isLost) setImmediate(() => request.socket.destroy())
}

t.test('a response that ends in the middle is read again, also if its connection stands still', async (t) => {
  for (const isLost of [true, false]) {
    const retries = { baseDelayMs: 1, timeoutMs: 200 }
    const { tandem, requests } = await serve(t, [halfOf(isLost), success], { retries })
    t.match(await tandem.listFeed(), { success: true })
    t.equal(requests.length, 2)
  }
})

t.test('a connection of realtime that is never made is given up for another', async (t) => {
  const { setTimeout } = globalThis
  t.intercept(globalThis, 'setTimeout', {
    value: (work: () => void, delayMs: number) => setTimeout(work, delayMs / 1_000)
  })
  const { tandem } = await serve(t, [success], { storage: signedIn() })
  const opened = Promise.withResolvers<void>()
  let count = 0
  const realtime = tandem.connectRealtime({
    WebSocket: class {
      constructor () {
        if (++count === 2) opened.resolve()
      }
      send () {}
      close () {}
    } as never
  })
  t.teardown(() => realtime.close())
  await opened.promise
})

t.test('a list is read page by page', async (t) => {
  const pages = [{ ids: [1, 2], nextCursor: 'a' }, { ids: [3], nextCursor: 'b' }, { ids: [], nextCursor: null }]
  const cursors: (string | undefined)[] = []
  const readPage = async (cursor: string | undefined) => {
    cursors.push(cursor)
    return { data: pages[cursors.length - 1]! }
  }
  const ids: number[] = []
  for await (const id of paginate(readPage, (page) => page.ids)) ids.push(id)
  t.same(ids, [1, 2, 3])
  t.same(cursors, [undefined, 'a', 'b'])
  for await (const _id of paginate(readPage.bind(null, undefined), () => [1])) break
  t.equal(cursors.length, 4, 'no page is read before it is needed')
})

t.test('a video is uploaded behind its poster', async (t) => {
  const { tandem, requests } = await serve(t, [success])
  const video = new File(['frames'], 'a.mp4', { type: 'video/mp4' })
  await tandem.uploadMedia(uploadOf(video, new File(['pixels'], 'a.png', { type: 'image/png' })))
  t.match(requests[0]?.body, /name="poster"[^]*pixels[^]*name="file"; filename="a.mp4"\r\nContent-Type: video\/mp4/)
})

t.test('a file is uploaded as a form', async (t) => {
  const { tandem, requests } = await serve(t, [success])
  await tandem.uploadMedia(uploadOf(new File(['pixels'], 'a.png', { type: 'image/png' })))
  t.match(requests[0]?.headers['content-type'], /^multipart\/form-data; boundary=/)
  t.match(requests[0]?.body, /name="file"; filename="a.png"\r\nContent-Type: image\/png\r\n\r\npixels\r\n/)
})

t.test('an error of the storage is named as such, and looks like none of the network', async (t) => {
  let fails = 'read'
  const storage = {
    read: () => {
      if (fails === 'read') throw new TypeError('getValueWithKeyAsync is not a function')
      return undefined
    },
    write: async () => await Promise.reject(new Error('the disk is full'))
  }
  const answer = json(200, { success: true, accessToken: 'new', refreshToken: 'r2', user: {} })
  const { tandem, requests } = await serve(t, [answer], { storage })
  t.match(await errorOf(tandem.listFeed()), { code: 'STORAGE_ERROR', status: 0, cause: TypeError })
  t.match(await errorOf(tandem.isSignedIn()), { code: 'STORAGE_ERROR' })
  t.equal(requests.length, 0)
  fails = 'write'
  const signIn = tandem.signIn({ body: { email: 'ana@example.com', password: 'x' } })
  t.match(await errorOf(signIn), { code: 'STORAGE_ERROR', cause: { message: 'the disk is full' } })
})

t.test('a token that was renewed for a connection is not renewed again for each attempt', async (t) => {
  const { tandem, requests } = await serve(t, [renewed], { storage: signedIn() })
  let count = 0
  const attempts = Promise.withResolvers<void>()
  const realtime = tandem.connectRealtime({
    delays: { base: 1, max: 2 },
    WebSocket: class {
      onmessage: ((event: { data: string }) => void) | undefined
      onclose: ((event: { code: number }) => void) | undefined
      constructor () {
        if (++count === 5) attempts.resolve()
        const isFirst = count === 1
        setImmediate(() => {
          const at = new Date().toISOString()
          const data = { connectionId: 'c', position: 'e-1', resumed: false, heartbeatSeconds: 30, expiresAt: at }
          // The second and all others are refused after they have begun, as by a gateway that restarts.
          if (isFirst) this.onmessage?.({ data: JSON.stringify({ type: 'hello', at, data }) })
          this.onclose?.({ code: 1012 })
        })
      }
      send () {}
      close () {}
    } as never
  })
  t.teardown(() => realtime.close())
  await attempts.promise
  t.equal(requests.filter(({ url }) => url?.endsWith('/auth/refresh')).length, 1)
})
