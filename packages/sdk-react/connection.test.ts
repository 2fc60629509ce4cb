import { createTandem, memoryStorage, type ChatMessage } from '@tandem/sdk'
import { focusManager, QueryClient } from '@tanstack/react-query'
import t from 'tap'
import { connect } from './connection.ts'
import { keys } from './keys.ts'

const token = `h.${Buffer.from(JSON.stringify({ sub: 'ana' })).toString('base64url')}.s`
const messageOf = (id: string, createdAt: string): ChatMessage => ({
  id,
  createdAt,
  content: id,
  image: null,
  imageUrl: null,
  isMine: false,
  matchId: 'm1',
  readAt: null,
  senderId: 'ben'
})

/** A WebSocket whose frames the test sends. */
class FakeSocket {
  static readonly opened: FakeSocket[] = []
  onmessage: ((event: { data: string }) => void) | null = null
  isClosed = false
  readonly url: string
  constructor (url: string) {
    this.url = url
    FakeSocket.opened.push(this)
  }
  send () {}
  close () {
    this.isClosed = true
  }
  receive (type: string, data: object, id?: string) {
    this.onmessage?.({ data: JSON.stringify({ type, id, at: new Date().toISOString(), data }) })
  }
}

async function until (isTrue: () => boolean) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5))
}

t.test('frames and sent messages change the cache, and the background pauses the connection', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const newest = { messages: [messageOf('b', '2026-11-27T10:00:00Z')], nextCursor: 'o' }
  const older = { messages: [messageOf('o', '2026-11-26T10:00:00Z')], nextCursor: null }
  client.setQueryData(keys.chat('m1'), { pages: [newest, older], pageParams: ['', 'o'] })
  let isReachable = false
  const tandem = createTandem({
    url: 'http://tandem.example',
    storage: memoryStorage({ accessToken: token, refreshToken: 'r' }),
    retries: { attempts: 1 },
    fetch: async () => {
      if (!isReachable) throw new TypeError('fetch failed')
      return Response.json({ success: true, data: { message: messageOf('mine', '2026-11-27T12:00:00Z') } })
    }
  })
  const { outbox, close } = connect(tandem, client)
  t.teardown(close)
  const pages = () => client.getQueryData<{ pages: { messages: ChatMessage[] }[] }>(keys.chat('m1'))!.pages
  const chat = () => pages().map(({ messages }) => messages.map(({ id }) => id).join()).join('|')

  await until(() => FakeSocket.opened.length === 1)
  const [socket] = FakeSocket.opened
  const expiresAt = new Date(Date.now() + 900_000).toISOString()
  socket!.receive('hello', {
    connectionId: 'c',
    position: 'e-1',
    resumed: true,
    unreadCount: 0,
    heartbeatSeconds: 30,
    expiresAt
  })
  const message = messageOf('a', '2026-11-27T09:00:00Z')
  for (const id of ['e-2', 'e-3']) socket!.receive('message.created', { matchId: 'm1', message }, id)
  t.equal(chat(), 'a,b|o', 'a message is shown once, in its place')
  socket!.receive('messages.read', { matchId: 'm1', messageIds: ['a'], isMine: false, readAt: 'now' }, 'e-4')
  t.match(pages()[0]?.messages, [{ id: 'a', readAt: 'now' }, { id: 'b', readAt: null }])

  await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content: 'mine' } }, 'chat/m1')
  t.match(client.getQueryData(keys.waiting), [{ operation: 'sendMessage' }])
  isReachable = true
  await outbox.flush()
  await until(() => chat() === 'a,b,mine|o')
  t.same(client.getQueryData(keys.waiting), [])

  focusManager.setFocused(false)
  t.equal(socket!.isClosed, true)
  focusManager.setFocused(true)
  await until(() => FakeSocket.opened.length === 2)
  t.match(FakeSocket.opened[1]!.url, /\?after=e-4$/, 'it goes on from the same frame')
})

t.test('a like that is refused is taken back wherever it is shown, and the app gets the reason', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const tandem = createTandem({
    url: 'http://tandem.example',
    storage: memoryStorage({ accessToken: token, refreshToken: 'r' }),
    fetch: async () => Response.json({ success: false, error: 'You cannot see it', code: 'FORBIDDEN' }, { status: 403 })
  })
  const reasons: string[] = []
  const { outbox, close } = connect(tandem, client, { onRefused: (_entry, { message }) => reasons.push(message) })
  t.teardown(close)
  for (const key of [keys.feed({}), keys.post('p1')]) client.setQueryData(key, {})
  await outbox.add('likePost', { path: { id: 'p1' } })
  await until(() => reasons.length > 0)
  t.same(reasons, ['You cannot see it'])
  for (const key of [keys.feed({}), keys.post('p1')]) t.equal(client.getQueryState(key)?.isInvalidated, true)
})

t.test('the lists are read once: when the connection is there', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const tandem = createTandem({
    url: 'http://tandem.example',
    storage: memoryStorage({ accessToken: token, refreshToken: 'r' })
  })
  const opened = FakeSocket.opened.length
  const { ready, close } = connect(tandem, client)
  t.teardown(close)
  let isReady = false
  void ready.then(() => {
    isReady = true
  })
  await until(() => FakeSocket.opened.length === opened + 1)
  t.equal(isReady, false)
  const expiresAt = new Date(Date.now() + 900_000).toISOString()
  const hello = {
    connectionId: 'c',
    position: 'e-1',
    resumed: false,
    unreadCount: 0,
    heartbeatSeconds: 30,
    expiresAt
  }
  FakeSocket.opened.at(-1)!.receive('hello', hello)
  await ready

  client.setQueryData(keys.chats, { totalMatches: 0 })
  t.equal(client.getQueryState(keys.chats)?.isInvalidated, false)
  FakeSocket.opened.at(-1)!.receive('hello', hello)
  t.equal(client.getQueryState(keys.chats)?.isInvalidated, true, 'what was missed is read again')
})
