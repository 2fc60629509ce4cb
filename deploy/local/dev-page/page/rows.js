import { h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import htm from 'htm'

const html = htm.bind(h)

const timeOf = (date) => new Date(date).toLocaleTimeString()
const pretty = (value) => JSON.stringify(value, undefined, 2)

function Copy ({ title, text }) {
  const [done, setDone] = useState('')
  const copy = async (event) => {
    event.preventDefault()
    try {
      await copyText(await text())
      setDone('Copied')
    } catch (error) {
      setDone(error.message)
    }
    setTimeout(() => setDone(''), 2_000)
  }
  return html`<button class="button" onClick=${copy}>${done || title}</button>`
}

/** Over plain HTTP at an address other than localhost, browsers have no navigator.clipboard. */
async function copyText (text) {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text)
  const field = document.body.appendChild(document.createElement('textarea'))
  field.value = text
  field.select()
  document.execCommand('copy')
  field.remove()
}

/** A row that opens; its detail is built only then. */
function Row ({ children, detail }) {
  const [isOpen, setOpen] = useState(false)
  return html`
    <details onToggle=${(event) => setOpen(event.target.open)}>
      <summary class="row">${children}</summary>
      ${isOpen && html`<div class="detail">${detail()}</div>`}
    </details>`
}

export function Mail ({ item: { date, to, subject, text, html: body } }) {
  const code = /\b\d{6}\b/.exec(text)?.[0]
  const parts = text.split(/(https?:\/\/[^\s<>"']+)/)
  const detail = () =>
    html`
    <pre>${parts.map((part, index) => index % 2 ? html`<a href=${part}>${part}</a>` : part)}</pre>
    ${body && html`<iframe title="The mail as HTML" sandbox="allow-popups" srcdoc=${body}></iframe>`}`
  return html`
    <${Row} detail=${detail}>
      <time>${timeOf(date)}</time><strong>${subject || '(no subject)'}</strong><span class="soft">${
    to.join(', ')
  }</span>
      ${code && html`<span class="end"><${Copy} title="Copy ${code}" text=${() => code} /></span>`}
    <//>`
}

export function Push ({ item }) {
  const { notification } = item.message
  return html`
    <${Row} detail=${() => html`<pre>${pretty(item.message)}</pre>`}>
      <time>${timeOf(item.at)}</time><strong>${notification.title}</strong><span>${notification.body}</span>
      <span class="soft">to ${item.token.slice(0, 40)}</span>
    <//>`
}

export function Event ({ item }) {
  return html`
    <${Row} detail=${() => html`<pre>${pretty(item)}</pre>`}>
      <time>${timeOf(item.time)}</time><strong>${item.type}</strong><span class="soft">${item.subject}</span>
    <//>`
}

export function Request ({ item }) {
  const { time, method, path, status, ms, requestId } = item
  return html`
    <${Row} detail=${() => html`<${Lines} id=${requestId} />`}>
      <time>${timeOf(time)}</time><span class="method">${method}</span><strong>${
    path.replace('/api/mobile/v1', '')
  }</strong>
      <span class="end"><span class="soft">${ms} ms</span><span class="status s${
    String(status)[0]
  }">${status}</span></span>
    <//>`
}

function Lines ({ id }) {
  const [lines, setLines] = useState()
  useEffect(() => {
    const load = async () => setLines(await (await fetch(`/api/requests/${id}`)).json())
    void load()
  }, [id])
  return html`
    <p>Request id <code>${id}</code> <${Copy} title="Copy" text=${() => id} /></p>
    ${
    lines?.map(({ time, name, msg, level, pid, hostname, requestId, traceId, ...rest }) =>
      html`
      <pre><b>${timeOf(time)} ${name}</b> ${level} ${msg} ${Object.keys(rest).length > 0 ? pretty(rest) : ''}</pre>`
    )
  }`
}

export function Account ({ item: { name, email, password } }) {
  const token = async () => {
    const response = await fetch('/api/accounts/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email })
    })
    const body = await response.json()
    if (!response.ok) throw new Error(body.error)
    return body.accessToken
  }
  return html`
    <div class="row">
      <strong>${name}</strong><span class="soft">${email} · ${password}</span>
      <span class="end"><a class="button" href="/app/sign-in?email=${
    encodeURIComponent(email)
  }">Open in the app</a><${Copy} title="Copy token" text=${token} /></span>
    </div>`
}
