import { h } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import htm from 'htm'

export const html = htm.bind(h)

/** Loads data when the page opens and when a dependency changes. `change` replaces it, for what is shown at once. */
export function useLoad (load, dependencies = []) {
  const [state, setState] = useState({})
  const reload = useCallback(async () => {
    try {
      const data = await load()
      setState({ data })
    } catch (error) {
      setState((earlier) => ({ ...earlier, error }))
    }
  }, dependencies)
  useEffect(() => void reload(), [reload])
  return { ...state, reload, change: (update) => setState(({ data }) => ({ data: update(data) })) }
}

const PAUSE_MS = 250

/** Searches a moment after the last key. The answer to an earlier text is dropped. */
export function useSearch (search) {
  const [text, setText] = useState('')
  const [state, setState] = useState({})
  useEffect(() => {
    if (!text.trim()) return setState({})
    let isCurrent = true
    const show = (next) => isCurrent && setState(next)
    const timer = setTimeout(async () => {
      await search(text).then((found) => show({ found }), ({ message }) => show({ error: message }))
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return { text, setText, ...state }
}

export function Loading ({ of: { error, reload }, rows = 3 }) {
  if (error) {
    return html`<div class="empty"><${Icon} name="cloud" /><p>${error.message}</p><button class="button" onClick=${reload}>Try again</button></div>`
  }
  return html`<div class="skeletons" aria-label="Loading">${
    Array.from({ length: rows }, () => html`<div class="card skeleton"></div>`)
  }</div>`
}

export const Empty = ({ icon, title, children }) =>
  html`<div class="empty"><${Icon} name=${icon} /><h2>${title}</h2><p>${children}</p></div>`

export function Avatar ({ user, size = 44 }) {
  const style = `--size: ${size}px`
  return user.image
    ? html`<img class="avatar" style=${style} src=${user.image} alt="" loading="lazy" />`
    : html`<span class="avatar" style=${style}>${user.name?.[0] ?? '?'}</span>`
}

export function timeAgo (date) {
  const seconds = (Date.now() - new Date(date)) / 1_000
  if (seconds < 60) return 'now'
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

const paths = {
  home: 'M4 11.5 12 4l8 7.5V20h-5.5v-5h-5v5H4z',
  feed: 'M4 5h16v14H4zM4 15l5-4 4 3 3-2 4 3M15.5 9h.01',
  discover: 'M13 3 5 14h6l-1 7 9-12h-6z',
  chats: 'M4 5h16v11H10l-4 4v-4H4z',
  inbox: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  heart: 'M12 20s-8-4.9-8-10.6A4.4 4.4 0 0 1 12 7a4.4 4.4 0 0 1 8 2.4C20 15.1 12 20 12 20z',
  comment: 'M20 11.5a7.5 7.5 0 0 1-11 6.6L4 20l1.6-4.6A7.5 7.5 0 1 1 20 11.5z',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M15 5l-7 7 7 7',
  send: 'M4 12 20 4l-5 16-3.5-6.5z',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M16 9h.01',
  check: 'M5 12.5 10 17.5 19.5 7',
  cloud: 'M7 18a4 4 0 0 1-.5-7.97A6 6 0 0 1 18 11a3.5 3.5 0 0 1-.5 7zM4 4l16 16',
  out: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  shield: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z',
  pin: 'M12 21s-6-5.5-6-11a6 6 0 0 1 12 0c0 5.5-6 11-6 11zM12 10h.01'
}

export const Icon = ({ name, filled }) =>
  html`
  <svg class="icon" viewBox="0 0 24 24" fill=${
    filled ? 'currentColor' : 'none'
  } stroke="currentColor" stroke-width="1.8"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${paths[name]} /></svg>`
