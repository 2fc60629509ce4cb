import {
  TandemError,
  type Outbox,
  type OutboxEntry,
  type QueuedOperation,
  type Realtime,
  type Stored,
  type Tandem
} from '@tandem/sdk'
import { focusManager, onlineManager, type QueryClient } from '@tanstack/react-query'
import {
  addComment,
  addMessage,
  addNotification,
  changeMessages,
  changeNotifications,
  changePost,
  refresh,
  withLike
} from './cache.ts'
import { keys } from './keys.ts'

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

type Sent<Name extends QueuedOperation> = NonNullable<Awaited<ReturnType<Tandem[Name]>>>

/** Opens the outbox and the realtime connection of the signed-in account, and keeps the cache current with both. */
export function connect (
  tandem: Tandem,
  client: QueryClient,
  { storage, onRefused }: ConnectionOptions = {}
): Connection {
  const reread = (...all: (readonly string[])[]) => refresh(client, ...all)
  // What waits is shown however late a screen is opened.
  client.setQueryDefaults(keys.waiting, { gcTime: Infinity })
  const outbox = tandem.openOutbox({
    ...(storage && { storage }),
    onChange: (waiting) => client.setQueryData(keys.waiting, waiting),
    onSent: (entry, response) => {
      const { operation, options } = entry
      if (operation === 'saveLogs' || operation === 'deleteLog') reread(keys.home)
      if (operation === 'saveLogs') {
        // The response is a success also if a log in it was rejected, such as one of a phone with a fast clock.
        for (const { status, error = '' } of (response as Sent<'saveLogs'>).data.results) {
          if (status === 'rejected') {
            onRefused?.(entry, new TandemError(error, { code: 'VALIDATION_ERROR', status: 400 }))
          }
        }
      }
      if (operation === 'sendMessage') addMessage(client, (response as Sent<'sendMessage'>).data.message)
      if (operation === 'createComment') {
        addComment(client, (response as Sent<'createComment'>).data.comment)
        reread(keys.post(idIn(options)))
      }
      if (operation === 'likePost' || operation === 'unlikePost') {
        changePost(client, idIn(options), (post) => withLike(post, operation === 'likePost'))
      }
    },
    // Often it is gone, or cannot be seen any more.
    onRefused: (entry, error) => {
      reread(...entry.operation === 'sendMessage' ? [keys.allChats] : [keys.feeds, keys.posts])
      onRefused?.(entry, error)
    }
  })
  const start = createStart()
  // The server sends no frames about the feed and the home screen.
  const realtime = tandem.connectRealtime({
    onReload: () => {
      if (!start.begin()) reread(keys.chats, keys.allChats, keys.notifications)
    }
  })
  const stops = [
    realtime.on('message.created', ({ data: { matchId, message, clientMessageId, notification, unreadCount } }) => {
      dropSent(clientMessageId)
      reread(keys.chats, ...message ? [] : [keys.chat(matchId)])
      if (message) addMessage(client, message)
      if (notification) addNotification(client, notification, unreadCount)
    }),
    realtime.on('messages.read', ({ data: { matchId, messageIds, readAt } }) => {
      changeMessages(
        client,
        matchId,
        (messages) => messages.map((message) => messageIds.includes(message.id) ? { ...message, readAt } : message)
      )
      reread(keys.chats)
    }),
    realtime.on('match.created', ({ data: { notification, unreadCount } }) => {
      reread(keys.chats, keys.home)
      if (notification) addNotification(client, notification, unreadCount)
    }),
    realtime.on('match.ended', ({ data: { matchId } }) => {
      reread(keys.chats, keys.home)
      // Its messages are erased.
      void client.resetQueries({ queryKey: keys.chat(matchId) })
    }),
    realtime.on(
      'notification.created',
      ({ data: { notification, unreadCount } }) => addNotification(client, notification, unreadCount)
    ),
    realtime.on('notifications.changed', ({ at: readAt, data: { readIds, removedIds, unreadCount } }) => {
      // Null means all.
      if (!readIds || !removedIds) reread(keys.notifications)
      else changeNotifications(client, { readIds, removedIds, readAt, unreadCount })
    }),
    realtime.on('account.changed', () => reread(keys.home)),
    focusManager.subscribe((isFocused) => isFocused ? goOn() : realtime.pause()),
    onlineManager.subscribe((isOnline) => isOnline && focusManager.isFocused() && goOn())
  ]
  // A page can be opened in a tab behind another one.
  if (!focusManager.isFocused()) realtime.pause()

  /** A message that has arrived is sent, whatever becomes of the response of its request. */
  function dropSent (clientMessageId: string | null) {
    for (const { id, options } of client.getQueryData<OutboxEntry[]>(keys.waiting) ?? []) {
      const { body } = options as { body?: { clientMessageId?: string } }
      // If it cannot be dropped, it is sent again, which changes nothing.
      if (clientMessageId !== null && body?.clientMessageId === clientMessageId) outbox.drop(id).catch(() => {})
    }
  }

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
      // Nothing waits for a connection that does not come.
      start.begin()
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
  return { ready, begin }
}

const idIn = (options: object) => (options as { path: { id: string } }).path.id
