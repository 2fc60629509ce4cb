import { tandem } from './api.js'
import { useReloads } from './realtime.js'
import { Avatar, Empty, html, Loading, timeAgo, useLoad } from './ui.js'

const icons = {
  CHAT: '💬',
  FITMATCH: '⚡',
  GAMIFICATION: '🏆',
  STORY_REACTION: '✨',
  ACCOUNT: '🔒',
  SOCIAL_FEED: '❤️',
  SPORT_BUDDY: '🤝',
  BOOKING: '📅',
  FASTING: '⏱️'
}
const hrefOf = ({ type, data }) =>
  type === 'CHAT' || type === 'FITMATCH' && data.matchId
    ? `#/chats/${data.matchId ?? ''}`
    : type === 'FITMATCH'
    ? '#/discover'
    : ['GAMIFICATION', 'SPORT_BUDDY', 'BOOKING', 'FASTING'].includes(type)
    ? '#/home'
    : '#/feed'

export function Inbox () {
  const loaded = useLoad(async () => (await tandem.listNotifications({ query: { limit: 30 } })).data)
  useReloads(['notification.created', 'notifications.changed', 'message.created', 'match.created'], loaded.reload)
  const readAll = async () => {
    await tandem.markNotificationsRead({ body: {} })
    await loaded.reload()
  }
  return html`
    <header class="top"><h1>Inbox</h1>${
    loaded.data?.unreadCount > 0 && html`<button class="button" onClick=${readAll}>Mark all as read</button>`
  }</header>
    ${!loaded.data && html`<${Loading} of=${loaded} />`}
    ${
    loaded.data?.notifications.length > 0 && html`
      <div class="card list">${
      loaded.data.notifications.map((each) =>
        html`
        <a key=${each.id} class="row ${each.readAt ? '' : 'unread'}" href=${hrefOf(each)}>
          ${
          each.actor
            ? html`<${Avatar} user=${each.actor} size=${44} />`
            : html`<span class="avatar" style="--size: 44px">${icons[each.type] ?? '🔔'}</span>`
        }
          <div><b>${each.title}</b><p class="soft">${each.body}</p></div><span class="soft">${
          timeAgo(each.createdAt)
        }</span>
        </a>`
      )
    }</div>`
  }
    ${
    loaded.data?.notifications.length === 0 &&
    html`<${Empty} icon="inbox" title="All quiet">Likes, comments and matches are shown here.<//>`
  }`
}
