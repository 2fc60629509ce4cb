import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { keys } from './keys.ts'
import { cursorOf, pageByPage, type ChatPage } from './pages.ts'
import { useConnected, useOutbox } from './provider.ts'
import { useWaitingTexts } from './waiting.ts'

// As docs/realtime.md says.
const TYPING_EXPIRES_MS = 6_000
const TYPING_EVERY_MS = 3_000

/** New matches and conversations. */
export function useChats () {
  const { tandem, connection } = useConnected()
  return useQuery({
    queryKey: keys.chats,
    enabled: connection !== undefined,
    queryFn: async ({ signal }) => {
      await connection?.ready
      return (await tandem.listMatches({ signal })).data
    }
  })
}

/** One chat on the screen, which is marked as read: its messages, page by page into the past, and the other person. */
export function useChat (matchId: string) {
  const { tandem, connection } = useConnected()
  const outbox = useOutbox()
  const [isTyping, setTyping] = useState(false)
  const [isOnline, setOnline] = useState(false)
  const query = useInfiniteQuery({
    queryKey: keys.chat(matchId),
    enabled: connection !== undefined,
    queryFn: async ({ pageParam, signal }): Promise<ChatPage> => {
      await connection?.ready
      const query = { limit: 50, markRead: false, ...cursorOf(pageParam) }
      const { messages, nextCursor } = (await tandem.getChat({ path: { matchId }, query, signal })).data
      return { messages, nextCursor }
    },
    ...pageByPage
  })
  const messages = query.data && [...query.data.pages].reverse().flatMap((page) => page.messages)
  useEffect(() =>
    connection?.realtime.subscribe('chat', matchId, ({ type, data }) => {
      if (type === 'presence.changed') setOnline(data.isOnline)
      if (type === 'chat.typing') setTyping(data.isTyping)
      if (type === 'message.created' && !data.message?.isMine) setTyping(false)
    }), [connection, matchId])

  // A stop can be lost.
  useEffect(() => {
    if (!isTyping) return
    const timer = setTimeout(() => setTyping(false), TYPING_EXPIRES_MS)
    return () => clearTimeout(timer)
  }, [isTyping])

  const unread = messages?.filter(({ isMine, readAt }) => !isMine && readAt === null).at(-1)?.id
  useEffect(() => {
    if (unread === undefined) return
    // If it cannot be stored, the next message marks it.
    connection?.outbox.add('markChatRead', { path: { matchId } }, threadOf(matchId)).catch(() => {})
  }, [connection, matchId, unread])

  const typedAt = useRef(0)
  return {
    messages,
    query,
    isTyping,
    isOnline,
    /** Texts that are not sent yet, in their order. */
    waiting: useWaitingTexts('sendMessage', threadOf(matchId)),
    send: async (content: string) =>
      await outbox().add(
        'sendMessage',
        { path: { matchId }, body: { content, clientMessageId: `${Date.now()}-${Math.random()}` } },
        threadOf(matchId)
      ),
    /** Call it with each key: the other person sees that somebody types. */
    type: () => {
      if (Date.now() - typedAt.current < TYPING_EVERY_MS) return
      typedAt.current = Date.now()
      // A hint: if it is lost, nothing is missing.
      tandem.setTyping({ path: { matchId }, body: { isTyping: true } }).catch(() => {})
    }
  }
}

const threadOf = (matchId: string) => `chat/${matchId}`
