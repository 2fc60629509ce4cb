import { html, type Html } from '../html.ts'
import type { Texts } from '../texts.ts'
import type { Visit } from '../visit.ts'

/** A segment of a path. */
export const segment = (value: string | undefined) => encodeURIComponent(value ?? '')

/** The text of a code; the code itself if it is a new one. */
export const label = (texts: Record<string, string>, code: string | null | undefined) => code ? texts[code] ?? code : ''

/** The key of a text about a code such as `post.created`: a dot begins a group of texts. */
export const keyOf = (code: string) => code.replaceAll('.', '_')

const MINUTE_MS = 60_000
const units = [['day', 1_440], ['hour', 60], ['minute', 1]] as const

const formats = new Map<string, { relative: Intl.RelativeTimeFormat, absolute: Intl.DateTimeFormat }>()

function formatsOf (language: string) {
  const known = formats.get(language)
  if (known) return known
  const made = {
    relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
    absolute: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  }
  formats.set(language, made)
  return made
}

/** The name of a language, in `language`. With a capital, as at the start of a sentence. */
export function nameOfLanguage (locale: string, language = locale) {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(locale) ?? locale
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
}

function relative (language: string, at: number) {
  const minutes = (at - Date.now()) / MINUTE_MS
  const [unit, size] = units.find(([, each]) => Math.abs(minutes) >= each) ?? ['minute', 1]
  return formatsOf(language).relative.format(Math.trunc(minutes / size), unit)
}

/** A time from now, with the exact one in its title. */
export function time ({ language }: Pick<Visit, 'language'>, iso: string | null | undefined): Html {
  if (!iso) return html`–`
  const at = Date.parse(iso)
  return html`<time datetime="${iso}" title="${formatsOf(language).absolute.format(at)} UTC">${
    relative(language, at)
  }</time>`
}

/** When something has to be done, marked once that is past. */
export function due (visit: Visit, iso: string) {
  const isOverdue = Date.parse(iso) < Date.now()
  return html`<span class="${isOverdue ? 'due late' : 'due'}">${
    isOverdue ? visit.texts.queue.overdue : visit.texts.queue.due
  } ${time(visit, iso)}</span>`
}

export const badge = (text: string, kind: 'good' | 'bad' | 'warn' | 'plain' = 'plain') =>
  html`<span class="badge ${kind}">${text}</span>`

export const empty = (text: string) => html`<p class="empty">${text}</p>`

/** What a service answered, one below the other; or that there is none, or that it did not answer. */
export const cards = <Item>(visit: Visit, items: Item[] | undefined, none: string, show: (item: Item) => Html) =>
  items?.length ? html`${items.map((each) => show(each))}` : empty(items ? none : visit.texts.queue.unknown)

/** The same as a list, of which `show` makes the items. */
export const rows = <Item>(visit: Visit, items: Item[] | undefined, none: string, show: (item: Item) => Html) =>
  items?.length ? html`<ol class="rows">${cards(visit, items, none, show)}</ol>` : cards(visit, items, none, show)

/** Why an operator does something, for the audit. */
export const reasonField = ({ people }: Texts) =>
  html`<label class="grow">${people.reason}<input name="reason" minlength="3" maxlength="500" required></label>`

export const more = (texts: Texts, path: string) =>
  html`<p class="more"><a class="button" href="${path}" rel="next">${texts.layout.more}</a></p>`

/** Name and value below each other, for what describes one thing. */
export const facts = (values: [name: string, value: Html | string | number | null | undefined | false][]) =>
  html`<dl class="facts">${
    values.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
      .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)
  }</dl>`

/** The options of a select. @param chosen the selected one */
export const options = (texts: Record<string, string>, codes: readonly string[], chosen?: string) =>
  html`${
    codes.map((code) =>
      html`<option value="${code}"${code === chosen && html` selected`}>${label(texts, code)}</option>`
    )
  }`

/**
 * A picture that is fetched when somebody opens it, blurred and grey until they lift that too. The numbered key does
 * both. A video is fetched when they play it.
 */
export function picture (
  { texts }: Visit,
  { number, path, note, isVideo = false }: { number: number, path: string, note?: string, isVideo?: boolean }
) {
  const name = texts.say(isVideo ? 'picture.video' : 'picture.name', { number })
  return html`<details class="picture">
    <summary>${name}<kbd aria-hidden="true">${number}</kbd></summary>
    <label><input type="checkbox"> ${texts.picture.clear}</label>
    ${
    isVideo
      ? html`<video src="${path}" aria-label="${name}" controls preload="none"></video>`
      : html`<img src="${path}" alt="${name}" loading="lazy">`
  }
    ${note ? html`<p class="meta mono">${note}</p>` : ''}
  </details>`
}

interface Action {
  type: string
  scope?: string | null
  until?: string | null
}

/** What a decision does, such as `Restricted: posting, until 3 May`. */
export const actionTexts = (visit: Visit, actions: Action[]) =>
  html`<ul class="inline">${
    actions.map(({ type, scope, until }) =>
      html`<li>${
        badge(
          [label(visit.texts.actions, type), scope ? label(visit.texts.scopes, scope) : ''].filter(Boolean).join(': '),
          type === 'DISMISS' || type === 'LIFT' || type === 'RESTORE_CONTENT' ? 'good' : 'bad'
        )
      }${until ? html` <span class="meta">${visit.texts.decision.until} ${time(visit, until)}</span>` : ''}</li>`
    )
  }</ul>`
