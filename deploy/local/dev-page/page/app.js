import { h, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import htm from 'htm'
import { Account, Event, Mail, Push, Request } from './rows.js'

const html = htm.bind(h)

const MAX_ITEMS = 300
const tabs = {
  mails: { title: 'Mails', Row: Mail, empty: 'No mail yet. Register an account, and its code is here.' },
  pushes: { title: 'Pushes', Row: Push, empty: 'No push yet. Register a device: POST /notifications/push.' },
  events: { title: 'Events', Row: Event, empty: 'No event since this page’s server started.' },
  requests: { title: 'Requests', Row: Request, empty: 'No request yet.' },
  accounts: { title: 'Accounts', Row: Account, empty: 'npm run demo starts the system with sixty people.' }
}
const names = Object.keys(tabs)
const keyOf = (item) => item.id ?? item.requestId ?? item.email ?? JSON.stringify(item)

function App () {
  const [items, setItems] = useState({})
  const [isLive, setLive] = useState(false)
  const [config, setConfig] = useState()
  const [tab, setTab] = useTab()
  const [filter, setFilter] = useState('')
  const input = useRef()

  useEffect(() => {
    const load = async () => {
      const read = await (await fetch('/config.json')).json()
      document.title = `${read.name} for developers`
      setConfig(read)
      const lists = await Promise.all(names.map(async (name) => [name, await (await fetch(`/api/${name}`)).json()]))
      setItems(Object.fromEntries(lists))
    }
    const source = new EventSource('/api/live')
    source.onopen = () => {
      setLive(true)
      // After a restart of the system, too.
      void load()
    }
    source.onerror = () => setLive(false)
    for (const name of names) {
      source.addEventListener(
        name,
        ({ data }) =>
          setItems((all) => ({ ...all, [name]: [JSON.parse(data), ...all[name] ?? []].slice(0, MAX_ITEMS) }))
      )
    }
    return () => source.close()
  }, [])
  useKeyboard({ setTab, input })

  const { Row, empty } = tabs[tab]
  const wanted = filter.toLowerCase()
  const shown = (items[tab] ?? []).filter((item) => !wanted || JSON.stringify(item).toLowerCase().includes(wanted))
  const clear = async () => {
    await fetch('/api/mails', { method: 'DELETE' })
    setItems((all) => ({ ...all, mails: [] }))
  }
  return html`
    <header>
      <div class="bar">
        <h1><img src="/page/icon.svg" alt="" />${config?.name} <span class="state ${isLive && 'live'}" title=${
    isLive ? 'Live' : 'Connecting …'
  }></span></h1>
        <nav>
          <a href="/app/">Sample app</a>
          <a href="/brand">Brand</a>
          ${config && html`<a href="${config.gateway}/docs">API</a>`}
        </nav>
      </div>
      <div role="tablist">
        ${
    names.map((name) =>
      html`
          <button role="tab" id="tab-${name}" aria-selected=${tab === name} onClick=${() => setTab(name)}>
            ${tabs[name].title}<small>${items[name]?.length ?? ''}</small>
          </button>`
    )
  }
      </div>
    </header>
    <main role="tabpanel" aria-labelledby="tab-${tab}">
      <div class="tools">
        <input type="search" ref=${input} placeholder="Filter" aria-label="Filter" value=${filter} onInput=${(event) =>
    setFilter(event.target.value)} />
        ${tab === 'mails' && shown.length > 0 && html`<button class="button" onClick=${clear}>Delete all</button>`}
      </div>
      <div class="list">
        ${shown.map((item) => html`<${Row} key=${keyOf(item)} item=${item} />`)}
        ${
    shown.length === 0 && html`<p class="empty">${
      filter
        ? 'Nothing matches.'
        : tab === 'mails' && config?.catchesMail === false
        ? 'Mails go to the server of SMTP_URL.'
        : empty
    }</p>`
  }
      </div>
    </main>
    <footer><kbd>1</kbd> to <kbd>5</kbd> tabs · <kbd>j</kbd> <kbd>k</kbd> move · <kbd>Enter</kbd> opens · <kbd>/</kbd> filter · as JSON at <a href="/api/${tab}">/api/${tab}</a></footer>`
}

/** The tab is in the address, so that a reload keeps it. */
function useTab () {
  const read = () => names.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'mails'
  const [tab, setTab] = useState(read)
  useEffect(() => {
    const update = () => setTab(read())
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return [tab, (name) => {
    location.hash = name
  }]
}

function useKeyboard ({ setTab, input }) {
  useEffect(() => {
    const onKey = (event) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === 'Escape') return document.activeElement?.blur()
      if (event.target.matches('input')) return
      if (event.key === '/') {
        event.preventDefault()
        input.current?.focus()
      } else if (names[Number(event.key) - 1]) setTab(names[Number(event.key) - 1])
      else if (event.key === 'j' || event.key === 'k') {
        const rows = [...document.querySelectorAll('summary')]
        const next = rows.indexOf(document.activeElement) + (event.key === 'j' ? 1 : -1)
        rows[Math.min(Math.max(next, 0), rows.length - 1)]?.focus()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

render(html`<${App} />`, document.body)
