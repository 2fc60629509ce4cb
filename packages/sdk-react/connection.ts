import type { ChatMessage, Outbox, OutboxEntry, Realtime, Stored, Tandem, TandemError } from '@tandem/sdk'
import { focusManager, onlineManager, type InfiniteData, type QueryClient } from '@tanstack/react-query'
import { keys } from './keys.ts'
import type { ChatPage } from './pages.ts'

export interface Connection {
  outbox: Outbox
  realtime: Realtime
  /** Resolves when the lists that realtime keeps current can be read, so that nothing between both is missed. */
  ready: Promise<void>
  close: () => void
}

// Without a connection, the lists are read all the same.
const MAX_WAIT_MS = 1_000

export interface ConnectionOptions {
  /** Where likes, comments, messages and logs wait while the server cannot be reached. Default: memory. */
  storage?: Stored<OutboxEntry[]> | undefined
  /** Called when the API refuses for good what somebody did: say so, and why. */
  onRefused?: ((entry: OutboxEntry, error: TandemError) => void) | undefined
}

type SentMessage = NonNullable<Awaited<ReturnType<Tandem['sendMessage']>>>

/** Opens the outbox and the realtime connection of the signed-in account, and keeps the cache current with both. */
export function connect (
  tandem: Tandem,
  client: QueryClient,
  { storage, onRefused }: ConnectionOptions = {}
): Connection {
  const invalidate = (...all: (readonly string[])[]) => {
    for (const queryKey of all) void client.invalidateQueries({ queryKey })
  }
  const outbox = tandem.openOutbox({
    ...(storage && { storage }),
    onChange: (waiting) => client.setQueryData(keys.waiting, waiting),
    onSent: ({ operation, options }, response) => {
      if (operation === 'saveLogs' || operation === 'deleteLog') invalidate(keys.home)
      if (operation === 'sendMessage' && response) addMessage(client, (response as SentMessage).data.message)
      if (operation === 'createComment') invalidate(keys.comments(idIn(options)), keys.post(idIn(options)))
    },
    // What was shown as if it had been sent is taken back.
    onRefused: (entry, error) => {
      invalidate(...entry.operation === 'sendMessage' ? [keys.allChats] : [keys.feeds, keys.posts])
      onRefused?.(entry, error)
    }
  })
  const start = createStart()
  // The server sends no frames about the feed and the home screen.
  const realtime = tandem.connectRealtime({
    onReload: () => {
      if (!start.begin()) invalidate(keys.chats, keys.allChats, keys.notifications)
    }
  })
  const stops = [
    realtime.on('message.created', ({ data: { matchId, message } }) => {
      invalidate(keys.chats, ...message ? [] : [keys.chat(matchId)])
      if (message) addMessage(client, message)
    }),
    realtime.on('messages.read', ({ data: { matchId, messageIds, readAt } }) => {
      changeMessages(
        client,
        matchId,
        (messages) => messages.map((message) => messageIds.includes(message.id) ? { ...message, readAt } : message)
      )
      invalidate(keys.chats)
    }),
    realtime.on('match.created', () => invalidate(keys.chats, keys.notifications)),
    realtime.on('match.ended', () => invalidate(keys.chats)),
    realtime.on('notification.created', () => invalidate(keys.notifications)),
    realtime.on('notifications.changed', () => invalidate(keys.notifications)),
    realtime.on('account.changed', () => invalidate(keys.home)),
    focusManager.subscribe((isFocused) => isFocused ? goOn() : realtime.pause()),
    onlineManager.subscribe((isOnline) => isOnline && goOn())
  ]

  function goOn () {
    realtime.wake()
    void outbox.flush()
  }

  void outbox.waiting().then((waiting) => client.setQueryData(keys.waiting, waiting))
  void outbox.flush()
  return {
    outbox,
    realtime,
    ready: start.ready,
    close () {
      start.stop()
      for (const stop of stops) stop()
      realtime.close()
      outbox.close()
    }
  }
}

function createStart () {
  let hasBegun = false
  let resolve = () => {}
  const ready = new Promise<void>((settle) => {
    resolve = settle
  })
  const timer = setTimeout(begin, MAX_WAIT_MS)
  /** @returns whether it has not begun before */
  function begin () {
    const isFirst = !hasBegun
    hasBegun = true
    clearTimeout(timer)
    resolve()
    return isFirst
  }
  return { ready, begin, stop: () => clearTimeout(timer) }
}

/** A message arrives twice: as the response of its request and as a frame. */
function addMessage (client: QueryClient, message: ChatMessage) {
  changeMessages(client, message.matchId, (messages, isNewest) => {
    const others = messages.filter(({ id }) => id !== message.id)
    return isNewest ? [...others, message].sort(byTime) : others
  })
}

function changeMessages (
  client: QueryClient,
  matchId: string,
  change: (messages: ChatMessage[], isNewest: boolean) => ChatMessage[]
) {
  client.setQueryData<InfiniteData<ChatPage>>(keys.chat(matchId), (data) =>
    data && {
      ...data,
      pages: data.pages.map((page, index) => ({ ...page, messages: change(page.messages, index === 0) }))
    })
}

const byTime = (one: ChatMessage, other: ChatMessage) => one.createdAt < other.createdAt ? -1 : 1

const idIn = (options: object) => (options as { path: { id: string } }).path.id
