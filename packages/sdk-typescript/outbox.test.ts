import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { exclusively } from './exclusive.ts'
import { createTandem, memoryStorage, type OutboxEntry, type OutboxOptions, type Stored, type Tokens } from './index.ts'

interface Received {
  url: string
  key: string
  body: string
}

async function until (isTrue: () => Promise<boolean>) {
  while (!await isTrue()) await sleep(5)
}

const tokenOf = (sub: string) => `h.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.s`

/** A server that carries out each idempotency key once, and answers as `fate` says. */
async function serve (t: Test) {
  const carriedOut: Received[] = []
  const server = { fate: (_received: Received): number | 'unreachable' | 'lost' => 200 }
  const http = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const url = String(request.url).replace('/api/mobile/v1', '')
      const received = { url, key: String(request.headers['idempotency-key']), body: Buffer.concat(chunks).toString() }
      const fate = server.fate(received)
      if (fate === 'unreachable') return void request.socket.destroy()
      const isRepeat = carriedOut.some(({ key }) => key === received.key)
      if (!isRepeat && (fate === 200 || fate === 'lost')) carriedOut.push(received)
      if (fate === 'lost') return void request.socket.destroy()
      const body = fate === 200 ? { success: true, data: {} } : { success: false, error: 'No', code: codes[fate] }
      response.writeHead(fate, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  t.teardown(() => http.close().closeAllConnections())
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const tokens = memoryStorage<Tokens>({ accessToken: tokenOf('ana'), refreshToken: 'r' })
  const open = (options: OutboxOptions = {}) => {
    const tandem = createTandem({ url, storage: tokens, retries: { attempts: 1 } })
    const outbox = tandem.openOutbox({ maxDelayMs: 20, ...options })
    t.teardown(() => outbox.close())
    return outbox
  }
  return { carriedOut, server, open, tokens }
}

const codes: Record<number, string> = {
  400: 'NOT_LIKED',
  403: 'FORBIDDEN',
  426: 'UPGRADE_REQUIRED',
  429: 'RATE_LIMITED',
  503: 'SERVICE_UNAVAILABLE'
}

/** A file of a phone: JSON text that outlives the app. */
function fileOf (): Stored<OutboxEntry[]> {
  let text = '[]'
  return {
    read: async () => JSON.parse(text) as OutboxEntry[],
    write: async (entries) => {
      text = JSON.stringify(entries)
    }
  }
}

t.test('a day in an airplane: 200 logs and 50 messages are sent once each, and messages in their order', async (t) => {
  const { carriedOut, server, open } = await serve(t)
  server.fate = () => 'unreachable'
  const storage = fileOf()
  const inTheAir = open({ storage })
  for (let n = 0; n < 200; n++) {
    const item = { type: 'WATER', data: { amount: n }, at: '2026-11-26T10:00:00Z', clientId: `log-${n}` }
    await inTheAir.add('saveLogs', { body: { items: [item] } } as never)
  }
  for (let n = 0; n < 50; n++) {
    await inTheAir.add('sendMessage', { path: { matchId: 'm1' }, body: { content: `message ${n}` } }, 'chat/m1')
  }
  t.equal((await inTheAir.waiting()).length, 250)
  t.same(carriedOut, [])
  inTheAir.close()

  // The app was closed meanwhile. Every third response is lost on the way, and every fifth request before it arrives.
  let requests = 0
  server.fate = () => ++requests % 3 === 0 ? 'lost' : requests % 5 === 0 ? 'unreachable' : 200
  const onTheGround = open({ storage })
  await onTheGround.flush()
  await until(async () => (await onTheGround.waiting()).length === 0)
  t.equal(carriedOut.length, 250, 'nothing is lost or doubled')
  const contents = carriedOut.filter(({ url }) => url.includes('messages')).map(({ body }) =>
    (JSON.parse(body) as { content: string }).content
  )
  t.same(contents, Array.from({ length: 50 }, (_, n) => `message ${n}`))
})

t.test('what is refused for good is dropped with its reason, and what is so already counts as sent', async (t) => {
  const { server, open } = await serve(t)
  const [refused, sent]: [string[], string[]] = [[], []]
  const outbox = open({
    onRefused: ({ operation }, { code }) => refused.push(`${operation} ${code}`),
    onSent: ({ operation }) => sent.push(operation)
  })
  server.fate = ({ url }) => url.includes('comment') ? 403 : url.includes('/like') ? 400 : 200
  await outbox.add('createComment', { path: { id: 'p1' }, body: { content: 'Hi' } })
  await outbox.add('unlikePost', { path: { id: 'p1' } })
  await outbox.add('markChatRead', { path: { matchId: 'm1' } } as never)
  await until(async () => (await outbox.waiting()).length === 0)
  t.same(refused, ['createComment FORBIDDEN'])
  t.same(sent.sort(), ['markChatRead', 'unlikePost'])
})

t.test('a thread that waits does not hold up the others, and goes on in its order', async (t) => {
  const { carriedOut, server, open } = await serve(t)
  server.fate = ({ url }) => url.includes('m1') ? 503 : 200
  const outbox = open()
  for (const content of ['1', '2']) {
    await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content } }, 'chat/m1')
  }
  await outbox.add('sendMessage', { path: { matchId: 'm2' }, body: { content: '3' } }, 'chat/m2')
  await outbox.flush()
  t.same(carriedOut.map(({ body }) => body), ['{"content":"3"}'])
  server.fate = () => 200
  await until(async () => (await outbox.waiting()).length === 0)
  t.same(carriedOut.map(({ body }) => body), ['{"content":"3"}', '{"content":"1"}', '{"content":"2"}'])
})

t.test('what a version that is too old added is sent by the next one', async (t) => {
  const { carriedOut, server, open } = await serve(t)
  const storage = fileOf()
  server.fate = () => 426
  const old = open({ storage, onRefused: () => t.fail('it is lost') })
  await old.add('sendMessage', { path: { matchId: 'm1' }, body: { content: '1' } })
  await old.flush()
  old.close()
  server.fate = () => 200
  await open({ storage }).flush()
  t.equal(carriedOut.length, 1)
})

t.test('what is added while another thread waits is sent at once', async (t) => {
  const { carriedOut, server, open } = await serve(t)
  server.fate = ({ url }) => url.includes('m1') ? 503 : 200
  const outbox = open({ maxDelayMs: 3_600_000 })
  await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content: '1' } }, 'chat/m1')
  // It fails often enough that the next attempt is minutes away.
  for (let attempt = 0; attempt < 8; attempt++) await outbox.flush()
  await outbox.add('sendMessage', { path: { matchId: 'm2' }, body: { content: '2' } }, 'chat/m2')
  await until(async () => (await outbox.waiting()).length === 1)
  t.same(carriedOut.map(({ body }) => body), ['{"content":"2"}'])
})

t.test('what is dropped is never sent, also while what was added before it is being sent', async (t) => {
  const { carriedOut, server, open } = await serve(t)
  server.fate = () => 'unreachable'
  const storage = fileOf()
  const outbox = open({ storage, maxDelayMs: 3_600_000 })
  const add = async (content: string) =>
    await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content } }, 'chat/m1')
  const [first, second, third] = [await add('1'), await add('2'), await add('3')]
  await outbox.flush()
  await outbox.drop(first.id)
  t.same((await outbox.waiting()).map(({ id }) => id), [second.id, third.id])
  const other = open({ storage })
  server.fate = ({ body }) => {
    if (body.includes('2')) void other.drop(third.id)
    return 200
  }
  await outbox.flush()
  t.same(carriedOut.map(({ body }) => body), ['{"content":"2"}'])
  t.same(await outbox.waiting(), [])
})

t.test('a tab shows what another one has sent as sent', async (t) => {
  const { open } = await serve(t)
  const storage = fileOf()
  const shown: number[] = []
  const tab = open({ storage, onChange: (waiting) => shown.push(waiting.length) })
  const other = open({ storage })
  // The other tab sends first what this one adds.
  const sending = Promise.withResolvers<void>()
  const held = exclusively('outbox sending', async () => await sending.promise)
  const flushed = other.flush()
  await tab.add('likePost', { path: { id: 'p1' } })
  sending.resolve()
  await Promise.all([held, flushed])
  await until(async () => shown.at(-1) === 0)
  t.same(await tab.waiting(), [])
})

t.test('what an account added is never sent as another one', async (t) => {
  const { carriedOut, server, open, tokens } = await serve(t)
  server.fate = () => 'unreachable'
  const outbox = open({ storage: fileOf() })
  await outbox.add('likePost', { path: { id: 'p1' } })
  await tokens.write({ accessToken: tokenOf('ben'), refreshToken: 'r' })
  server.fate = () => 200
  await outbox.flush()
  t.same([await outbox.waiting(), carriedOut], [[], []])
  await tokens.write(undefined)
  await t.rejects(outbox.add('likePost', { path: { id: 'p1' } }), { code: 'UNAUTHORIZED' })
  await tokens.write({ accessToken: tokenOf('ana'), refreshToken: 'r' })
  await outbox.flush()
  t.equal(carriedOut.length, 1)
})

t.test('two tabs that renew their session a thousand times are never signed out', async (t) => {
  let current = 0
  const answer = (status: number, body: object) => Response.json(body, { status })
  const server = async (request: Request) => {
    // Requests of both tabs are under way at once.
    await sleep(0)
    if (request.url.endsWith('/auth/refresh')) {
      const { refreshToken } = await request.json() as { refreshToken: string }
      // A used refresh token ends the session, as on the real server.
      if (refreshToken !== `r${current}`) {
        return answer(401, { success: false, error: 'No', code: 'INVALID_REFRESH_TOKEN' })
      }
      current++
      return answer(200, { success: true, accessToken: `a${current}`, refreshToken: `r${current}`, expiresIn: 900 })
    }
    const isCurrent = request.headers.get('authorization') === `Bearer a${current}`
    if (isCurrent && Math.random() < 0.5) return answer(200, { success: true, data: {} })
    return answer(401, { success: false, error: 'No', code: 'INVALID_ACCESS_TOKEN' })
  }
  const storage = memoryStorage<Tokens>({ accessToken: 'a0', refreshToken: 'r0' })
  const tabs = [1, 2].map(() =>
    createTandem({
      url: 'http://tandem.example',
      fetch: server,
      // As in a browser, each read and write takes a turn.
      storage: { read: async () => await storage.read(), write: async (tokens) => await storage.write(tokens) },
      onSignedOut: () => t.fail('signed out')
    })
  )
  while (current < 1_000) await Promise.all(tabs.map(async (tab) => await tab.listFeed().catch(() => {})))
  t.ok(await tabs[0]!.isSignedIn())
})

t.test('an entry of another version of the app, which this one cannot send, holds up nothing', async (t) => {
  const { carriedOut, open } = await serve(t)
  const storage = fileOf()
  const old = { id: 'o', accountId: 'ana', operation: 'sendPoke', options: {}, thread: 'chat/m1', addedAt: 0 }
  await storage.write([old as never])
  const refused: string[] = []
  const outbox = open({ storage, onRefused: ({ id }, { code }) => refused.push(`${id} ${code}`) })
  await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content: 'Hi' } }, 'chat/m1')
  await until(async () => (await outbox.waiting()).length === 0)
  t.equal(carriedOut.length, 1)
  t.same(refused, ['o UNKNOWN_OPERATION'])
})

t.test('a storage that fails for a while loses and doubles nothing', async (t) => {
  const { carriedOut, open } = await serve(t)
  const file = fileOf()
  let failures = 0
  const fail = () => {
    if (failures-- > 0) throw new Error('the disk is full')
  }
  const outbox = open({
    storage: {
      read: async () => {
        fail()
        return await file.read()
      },
      write: async (entries) => {
        fail()
        await file.write(entries)
      }
    }
  })
  failures = 1
  const add = async (content: string) =>
    await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content } }, 'chat/m1')
  await t.rejects(add('lost'), { code: 'STORAGE_ERROR', status: 0 })
  for (let failing = 1; failing < 8; failing++) {
    await add(String(failing))
    failures = failing
    await until(async () => (await file.read())?.length === 0)
  }
  t.same(carriedOut.map(({ body }) => body), [1, 2, 3, 4, 5, 6, 7].map((n) => `{"content":"${n}"}`))
})
