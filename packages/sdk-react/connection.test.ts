import { createTandem, memoryStorage, type ChatMessage } from '@tandem/sdk'
import { focusManager, InfiniteQueryObserver, onlineManager, QueryClient, QueryObserver } from '@tanstack/react-query'
import t, { type Test } from 'tap'
import { connect } from './connection.ts'
import { keys } from './keys.ts'
import { pageByPage, type ChatPage } from './pages.ts'

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

  greet ({ resumed = true } = {}) {
    const expiresAt = new Date(Date.now() + 900_000).toISOString()
    const position = 'e-1'
    this.receive('hello', { connectionId: 'c', position, resumed, unreadCount: 0, heartbeatSeconds: 30, expiresAt })
  }
}

async function nextSocket () {
  const opened = FakeSocket.opened.length
  await until(() => FakeSocket.opened.length > opened)
  return FakeSocket.opened.at(-1)!
}

const signedIn = (fetch?: () => Promise<Response>) =>
  createTandem({
    url: 'http://tandem.example',
    storage: memoryStorage({ accessToken: token, refreshToken: 'r' }),
    retries: { attempts: 1 },
    ...fetch && { fetch }
  })

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
  const tandem = signedIn(async () => {
    if (!isReachable) throw new TypeError('fetch failed')
    return Response.json({ success: true, data: { message: messageOf('mine', '2026-11-27T12:00:00Z') } })
  })
  const { outbox, close } = connect(tandem, client)
  t.teardown(close)
  const pages = () => client.getQueryData<{ pages: { messages: ChatMessage[] }[] }>(keys.chat('m1'))!.pages
  const chat = () => pages().map(({ messages }) => messages.map(({ id }) => id).join()).join('|')

  const socket = await nextSocket()
  socket.greet()
  const message = messageOf('a', '2026-11-27T09:00:00Z')
  for (const id of ['e-2', 'e-3']) socket.receive('message.created', { matchId: 'm1', message }, id)
  t.equal(chat(), 'a,b|o', 'a message is shown once, in its place')
  socket.receive('messages.read', { matchId: 'm1', messageIds: ['a'], isMine: false, readAt: 'now' }, 'e-4')
  t.match(pages()[0]?.messages, [{ id: 'a', readAt: 'now' }, { id: 'b', readAt: null }])

  await outbox.add('sendMessage', { path: { matchId: 'm1' }, body: { content: 'mine' } }, 'chat/m1')
  t.match(client.getQueryData(keys.waiting), [{ operation: 'sendMessage' }])
  isReachable = true
  await outbox.flush()
  await until(() => chat() === 'a,b,mine|o')
  t.same(client.getQueryData(keys.waiting), [])

  focusManager.setFocused(false)
  t.equal(socket.isClosed, true)
  focusManager.setFocused(true)
  await until(() => FakeSocket.opened.length === 2)
  t.match(FakeSocket.opened[1]!.url, /\?after=e-4$/, 'it goes on from the same frame')
})

t.test('a like that is refused is taken back wherever it is shown, and the app gets the reason', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const tandem = signedIn(async () =>
    Response.json({ success: false, error: 'You cannot see it', code: 'FORBIDDEN' }, { status: 403 })
  )
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
  const { ready, close } = connect(signedIn(), client)
  t.teardown(close)
  let isReady = false
  void ready.then(() => {
    isReady = true
  })
  const socket = await nextSocket()
  t.equal(isReady, false)
  socket.greet({ resumed: false })
  await ready

  client.setQueryData(keys.chats, { totalMatches: 0 })
  t.equal(client.getQueryState(keys.chats)?.isInvalidated, false)
  socket.greet({ resumed: false })
  t.equal(client.getQueryState(keys.chats)?.isInvalidated, true, 'what was missed is read again')
})

/** A chat on the screen, whose requests the test answers. */
function showChat (t: Test, client: QueryClient) {
  const answers: ((page: ChatPage) => void)[] = []
  const observer = new InfiniteQueryObserver(client, {
    queryKey: keys.chat('m1'),
    queryFn: async () => await new Promise<ChatPage>((resolve) => answers.push(resolve)),
    ...pageByPage
  })
  t.teardown(observer.subscribe(() => {}))
  const shown = () => observer.getCurrentResult().data?.pages.map(({ messages }) => messages.map(({ id }) => id).join())
  return { answers, observer, shown }
}

t.test('a message that arrives while messages are read is not lost, at the start and with an older page', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const { close } = connect(signedIn(), client)
  t.teardown(close)
  const { answers, observer, shown } = showChat(t, client)
  const socket = await nextSocket()
  socket.greet()
  const receive = (id: string, createdAt: string) =>
    socket.receive('message.created', { matchId: 'm1', message: messageOf(id, createdAt) })
  receive('b', '2026-11-27T10:00:00Z')
  answers[0]!({ messages: [messageOf('a', '2026-11-27T09:00:00Z')], nextCursor: 'a' })
  await until(() => shown()?.join('|') === 'a,b')
  void observer.fetchNextPage()
  await until(() => answers.length === 2)
  receive('c', '2026-11-27T11:00:00Z')
  answers[1]!({ messages: [messageOf('o', '2026-11-26T09:00:00Z')], nextCursor: null })
  await until(() => shown()?.join('|') === 'a,b,c|o')
})

t.test('a list is read again if something happens while it is read for the first time', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const { close } = connect(signedIn(), client)
  t.teardown(close)
  const answers: ((list: string) => void)[] = []
  const observer = new QueryObserver(client, {
    queryKey: keys.chats,
    queryFn: async () => await new Promise<string>((resolve) => answers.push(resolve))
  })
  t.teardown(observer.subscribe(() => {}))
  const socket = await nextSocket()
  socket.greet()
  socket.receive('match.created', { matchId: 'm1', match: null, notification: null, unreadCount: 0 })
  await until(() => answers.length === 2)
  answers[0]!('without the match')
  answers[1]!('with the match')
  await until(() => observer.getCurrentResult().data === 'with the match')
})

t.test('the messages of a match that ended are forgotten', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const { close } = connect(signedIn(), client)
  t.teardown(close)
  client.setQueryData(keys.chat('m1'), { pages: [], pageParams: [] })
  const socket = await nextSocket()
  socket.greet()
  socket.receive('match.ended', { matchId: 'm1' })
  t.equal(client.getQueryData(keys.chat('m1')), undefined)
})

t.test('a page in the background stays without a connection, also when the network comes back', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  focusManager.setFocused(false)
  t.teardown(() => focusManager.setFocused(true))
  const opened = FakeSocket.opened.length
  const { close } = connect(signedIn(), new QueryClient())
  t.teardown(close)
  onlineManager.setOnline(false)
  onlineManager.setOnline(true)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(FakeSocket.opened.length, opened)
  focusManager.setFocused(true)
  await until(() => FakeSocket.opened.length > opened)
})

t.test('what waits is known until it is sent, and a like that is sent stays in a feed that is read meanwhile', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient({ defaultOptions: { queries: { gcTime: 1 } } })
  let isReachable = false
  const { outbox, close } = connect(
    signedIn(async () => {
      if (!isReachable) throw new TypeError('fetch failed')
      return Response.json({ success: true, data: { liked: true } })
    }),
    client
  )
  t.teardown(close)
  await outbox.add('likePost', { path: { id: 'p1' } })
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.match(client.getQueryData(keys.waiting), [{ operation: 'likePost' }])
  const answers: ((page: object) => void)[] = []
  const observer = new InfiniteQueryObserver(client, {
    queryKey: keys.feed({}),
    queryFn: async () => await new Promise<object>((resolve) => answers.push(resolve)),
    initialPageParam: '',
    getNextPageParam: () => null
  })
  t.teardown(observer.subscribe(() => {}))
  await until(() => answers.length === 1)
  isReachable = true
  await outbox.flush()
  answers[0]!({ posts: [{ id: 'p1', isLiked: false, likesCount: 2 }], nextCursor: null })
  await until(() => observer.getCurrentResult().data !== undefined)
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.match(observer.getCurrentResult().data?.pages, [{ posts: [{ isLiked: true, likesCount: 3 }] }])
})

t.test('a log that the server rejects is refused, not sent', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const results = [
    { clientId: 'a', id: '1', status: 'created' },
    { clientId: 'b', id: null, status: 'rejected', error: 'at must not be in the future' }
  ]
  const tandem = signedIn(async () => Response.json({ success: true, data: { results } }))
  const reasons: string[] = []
  const { outbox, close } = connect(tandem, new QueryClient(), {
    onRefused: ({ operation }, { code, message }) => reasons.push(`${operation} ${code} ${message}`)
  })
  t.teardown(close)
  await outbox.add('saveLogs', { body: { items: [] } })
  await until(() => reasons.length > 0)
  t.same(reasons, ['saveLogs VALIDATION_ERROR at must not be in the future'])
})

t.test('one’s own message whose response is lost is shown once when its frame arrives, and is not sent again', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  client.setQueryData(keys.chat('m1'), { pages: [{ messages: [], nextCursor: null }], pageParams: [''] })
  let requests = 0
  const { outbox, close } = connect(
    signedIn(async () => {
      requests++
      throw new TypeError('the response is lost')
    }),
    client
  )
  t.teardown(close)
  const socket = await nextSocket()
  socket.greet()
  const body = { content: 'Hi', clientMessageId: 'c1' }
  await outbox.add('sendMessage', { path: { matchId: 'm1' }, body }, 'chat/m1')
  await until(() => requests === 1)
  t.match(client.getQueryData(keys.waiting), [{ operation: 'sendMessage' }])
  const message = { ...messageOf('mine', '2026-11-27T12:00:00Z'), isMine: true }
  socket.receive('message.created', { matchId: 'm1', message, clientMessageId: 'c1', notification: null }, 'e-2')
  await until(() => client.getQueryData<unknown[]>(keys.waiting)?.length === 0)
  t.match(client.getQueryData(keys.chat('m1')), { pages: [{ messages: [{ id: 'mine' }] }] })
  await outbox.flush()
  t.equal(requests, 1)
})

t.test('what waits for the connection goes on when it is closed', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const { ready, close } = connect(signedIn(), new QueryClient())
  close()
  await ready
})

const notificationOf = (id: string, body = id) => ({ id, body, readAt: null as string | null })

t.test('the inbox shows what arrives, and what is read elsewhere, without another request', async (t) => {
  t.intercept(globalThis, 'WebSocket', { value: FakeSocket })
  const client = new QueryClient()
  const { close } = connect(signedIn(), client)
  t.teardown(close)
  const newest = { notifications: [notificationOf('n8'), notificationOf('n6')], nextCursor: 'n6', unreadCount: 3 }
  const older = { notifications: [notificationOf('n4'), notificationOf('n2')], nextCursor: 'n2', unreadCount: 3 }
  client.setQueryData(keys.notifications, { pages: [newest, older], pageParams: ['', 'n6'] })
  const pages = () =>
    client.getQueryData<{ pages: { notifications: typeof newest.notifications, unreadCount: number }[] }>(
      keys.notifications
    )!.pages
  const inbox = () =>
    pages().map(({ notifications }) => notifications.map(({ body, readAt }) => readAt ? `(${body})` : body).join())
      .join('|')
  const socket = await nextSocket()
  socket.greet()

  const message = messageOf('a', '2026-11-27T09:00:00Z')
  socket.receive('message.created', { matchId: 'm1', message, notification: null, unreadCount: 3 }, 'e-2')
  t.equal(inbox(), 'n8,n6|n4,n2', 'one’s own message has no notification')
  const notification = notificationOf('n9')
  socket.receive('message.created', { matchId: 'm1', message, notification, unreadCount: 4 }, 'e-3')
  t.equal(inbox(), 'n9,n8,n6|n4,n2')
  socket.receive('notification.created', { notification: notificationOf('n4', 'and others'), unreadCount: 4 }, 'e-4')
  t.equal(inbox(), 'n9,n8,n6|and others,n2', 'one that is known is replaced in its place')
  socket.receive('notification.created', { notification: notificationOf('n5'), unreadCount: 5 }, 'e-5')
  socket.receive('notification.created', { notification: notificationOf('n1'), unreadCount: 6 }, 'e-6')
  t.equal(inbox(), 'n9,n8,n6|n5,and others,n2', 'one that is older than what is read stays on its own page')
  socket.receive('notifications.changed', { readIds: ['n8'], removedIds: ['n6'], unreadCount: 4 }, 'e-7')
  t.equal(inbox(), 'n9,(n8)|n5,and others,n2')
  t.same(pages().map(({ unreadCount }) => unreadCount), [4, 4])
  t.equal(client.getQueryState(keys.notifications)?.isInvalidated, false)

  socket.receive('notifications.changed', { readIds: null, removedIds: [], unreadCount: 0 }, 'e-8')
  t.equal(client.getQueryState(keys.notifications)?.isInvalidated, true, 'too many to name are read again')
})
