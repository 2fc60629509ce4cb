import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { useChatOnScreen, useFrames, useReloads } from './realtime.js'
import { Avatar, Empty, html, Icon, Loading, timeAgo, useLoad } from './ui.js'

const userOf = ({ profile: { displayName, photos } }) => ({
  name: displayName,
  image: (photos.find(({ isMain }) => isMain) ?? photos[0])?.url
})

export function Chats ({ id }) {
  const loaded = useLoad(async () => (await tandem.listMatches()).data, [id])
  useReloads(['message.created', 'messages.read', 'match.created', 'match.ended'], loaded.reload)
  if (!loaded.data) return html`<header class="top"><h1>Chats</h1></header><${Loading} of=${loaded} />`
  const { newMatches, conversations } = loaded.data
  const open = [...newMatches, ...conversations].find(({ matchId }) => matchId === id)
  return html`
    <div class="chat-layout ${id ? 'open' : ''}">
      <section class="chat-list"><header class="top"><h1>Chats</h1></header>
        ${
    newMatches.length > 0 && html`<h2 class="soft">New matches</h2><div class="faces">${
      newMatches.map((match) =>
        html`
          <a key=${match.matchId} href="#/chats/${match.matchId}"><${Avatar} user=${userOf(match)} size=${62} /><span>${
          userOf(match).name.split(' ')[0]
        }</span></a>`
      )
    }</div>`
  }
        ${
    conversations.map((chat) =>
      html`
          <a key=${chat.matchId} class="row" href="#/chats/${chat.matchId}" aria-current=${
        chat.matchId === id ? 'true' : undefined
      }>
            <${Avatar} user=${userOf(chat)} size=${52} />
            <div><b>${userOf(chat).name}</b><p class="soft">${chat.lastMessage.isMine ? 'You: ' : ''}${
        chat.lastMessage.content ?? 'A picture'
      }</p></div>
            <span class="soft">${timeAgo(chat.lastMessage.createdAt)}${
        chat.unreadCount > 0 && html`<b class="badge">${chat.unreadCount}</b>`
      }</span>
          </a>`
    )
  }
        ${
    loaded.data.totalMatches === 0 &&
    html`<${Empty} icon="chats" title="No chats yet">A match opens one. <a href="#/discover">Discover people</a><//>`
  }
      </section>
      ${
    open
      ? html`<${Conversation} key=${id} match=${open} />`
      : html`<section class="conversation none"><${Empty} icon="chats" title="Pick a chat">Your messages are here.<//></section>`
  }
    </div>`
}

function Conversation ({ match }) {
  const { matchId } = match
  const path = { matchId }
  const [text, setText] = useState('')
  const [isTyping, setTyping] = useState(false)
  const [isOnline, setOnline] = useState(false)
  const loaded = useLoad(
    async () => (await tandem.getChat({ path, query: { limit: 50 } })).data.messages,
    [matchId]
  )
  const end = useRef()
  const last = loaded.data?.at(-1)?.id
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [last, isTyping])

  const add = (messages) =>
    loaded.change((all = []) => [...all, ...messages.filter(({ id }) => all.every((message) => message.id !== id))])
  useChatOnScreen(matchId)
  const fetchMissed = useCallback(async () => {
    const { data } = await tandem.listNewMessages({ path, query: last ? { afterId: last } : {} })
    add(data.messages)
    await tandem.markChatRead({ path })
  }, [matchId, last])
  useReloads([], fetchMissed)
  useFrames(
    ['message.created'],
    useCallback(({ data }) => {
      if (data.matchId !== matchId) return
      // Its text could not be read in time.
      if (!data.message) return void fetchMissed()
      add([data.message])
      if (data.message.isMine) return
      setTyping(false)
      void tandem.markChatRead({ path })
    }, [matchId, fetchMissed])
  )
  useFrames(
    ['messages.read'],
    useCallback(
      ({ data: { messageIds, readAt } }) =>
        loaded.change((all = []) =>
          all.map((message) => messageIds.includes(message.id) ? { ...message, readAt } : message)
        ),
      [matchId]
    )
  )
  useFrames(
    ['chat.typing', 'presence.changed'],
    useCallback(({ type, data }) => {
      if (data.matchId !== matchId) return
      if (type === 'chat.typing') setTyping(data.isTyping)
      else setOnline(data.isOnline)
    }, [matchId])
  )
  // A stop can be lost.
  useEffect(() => {
    if (!isTyping) return
    const timer = setTimeout(() => setTyping(false), 6_000)
    return () => clearTimeout(timer)
  }, [isTyping])

  const typedAt = useRef(0)
  const type = (value) => {
    setText(value)
    if (Date.now() - typedAt.current < 3_000) return
    typedAt.current = Date.now()
    void tandem.setTyping({ path, body: { isTyping: true } }).catch(() => {})
  }

  const send = async (event) => {
    event.preventDefault()
    const content = text.trim()
    setText('')
    const body = { content, clientMessageId: `app-${Date.now()}` }
    const { data } = await tandem.sendMessage({ path, body })
    add([data.message])
  }
  const user = userOf(match)
  return html`
    <section class="conversation">
      <header><a class="plain" href="#/chats" aria-label="Back"><${Icon} name="back" /></a><${Avatar} user=${user} size=${40} /><b>${user.name}</b>${
    isOnline && html`<span class="soft">online</span>`
  }</header>
      <div class="messages">
        ${
    loaded.data?.map(({ id, isMine, content, imageUrl, readAt, createdAt }) =>
      html`
          <div key=${id} class="bubble ${isMine && 'mine'}" title=${new Date(createdAt).toLocaleString()}>
            ${imageUrl && html`<img src=${imageUrl} alt="" />`}${content}${
        isMine && readAt && html`<${Icon} name="check" />`
      }</div>`
    )
  }
        ${
    loaded.data?.length === 0 && html`<${Empty} icon="chats" title="Say hello">You both want to train together.<//>`
  }
        ${isTyping && html`<div class="bubble typing" aria-label="${user.name} is typing"><i></i><i></i><i></i></div>`}
        <div ref=${end}></div>
      </div>
      <form onSubmit=${send}><input class="field" placeholder="Message" aria-label="Message" value=${text} onInput=${(
    event
  ) => type(event.target.value)} />
        <button class="primary round" aria-label="Send" disabled=${!text.trim()}><${Icon} name="send" /></button></form>
    </section>`
}
