import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { Chats } from './chats.js'
import { Discover } from './discover.js'
import { Feed } from './feed.js'
import { Gyms } from './gyms.js'
import { Home } from './home.js'
import { Inbox } from './inbox.js'
import { useReloads } from './realtime.js'
import { Safety } from './safety.js'
import { SignIn } from './sign-in.js'
import { Train } from './train.js'
import { Avatar, html, Icon, useLoad } from './ui.js'

const pages = {
  home: { title: 'Home', Page: Home },
  feed: { title: 'Feed', Page: Feed },
  discover: { title: 'Discover', Page: Discover },
  chats: { title: 'Chats', Page: Chats },
  inbox: { title: 'Inbox', Page: Inbox },
  // Opened from another page, whose tab stays marked.
  train: { tab: 'home', Page: Train },
  gyms: { tab: 'discover', Page: Gyms },
  safety: { tab: 'discover', Page: Safety }
}

function App () {
  const [isSignedIn, setSignedIn] = useState()
  useEffect(() => void tandem.isSignedIn().then(setSignedIn), [])
  if (isSignedIn === undefined) return null
  return isSignedIn ? html`<${Shell} />` : html`<${SignIn} onSignedIn=${() => setSignedIn(true)} />`
}

/** `#/chats/<id>`: the page, and what it shows. */
function useRoute () {
  const read = () => {
    const [, name, id] = location.hash.split('/')
    return { name: name in pages ? name : 'home', id }
  }
  const [route, setRoute] = useState(read)
  useEffect(() => {
    const update = () => {
      setRoute(read())
      scrollTo(0, 0)
    }
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return route
}

function Shell () {
  const { name, id } = useRoute()
  const me = useLoad(async () => (await tandem.getCurrentUser()).user)
  const badges = useLoad(async () => {
    const [notifications, matches] = await Promise.all([
      tandem.countUnreadNotifications(),
      tandem.listMatches({ query: { type: 'conversations' } }).catch(() => undefined)
    ])
    return {
      inbox: notifications.data.count,
      chats: matches?.data.conversations.reduce((sum, { unreadCount }) => sum + unreadCount, 0)
    }
  }, [name, id])
  useReloads(
    [
      'message.created',
      'messages.read',
      'match.created',
      'match.ended',
      'notification.created',
      'notifications.changed'
    ],
    badges.reload
  )
  const signOut = useCallback(async () => {
    await tandem.signOut({ body: {} }).catch(() => tandem.forget())
    location.hash = ''
    location.reload()
  }, [])
  if (!me.data) return null
  const { Page, tab = name } = pages[name]
  return html`
    <nav class="tabs">
      <a class="brand" href="#/home"><img src="/page/icon.svg" alt="" />Tandem</a>
      ${
    Object.entries(pages).filter(([, { title }]) => title).map(([key, { title }]) =>
      html`
        <a href="#/${key}" aria-current=${key === tab ? 'page' : undefined}>
          <${Icon} name=${key} filled=${key === tab && key !== 'feed'} /><span>${title}</span>
          ${badges.data?.[key] > 0 && html`<b class="badge">${Math.min(badges.data[key], 99)}</b>`}
        </a>`
    )
  }
      <div class="me">
        <${Avatar} user=${me.data} size=${36} /><span>${me.data.name}</span>
        <button class="plain" onClick=${signOut} aria-label="Sign out" title="Sign out"><${Icon} name="out" /></button>
      </div>
    </nav>
    <main class=${name}><${Page} key=${name} id=${id} me=${me.data} signOut=${signOut} /></main>`
}

render(html`<${App} />`, document.body)
