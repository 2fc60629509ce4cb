import { readBrand } from '@tandem/brand-kit'
import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import type { Form } from '../forms.ts'
import { redirectAfter, type Made, type Pages } from '../visits.ts'
import { badge, nameOfLanguage, reasonField, rows, segment, time } from './parts.ts'

interface Broadcast {
  id: string
  title: Record<string, string>
  recipients: number
  createdAt: string
  finishedAt: string | null
}

export function serveBroadcasts ({ page, form }: Pages) {
  page('/broadcasts', 'broadcasts.read', async (visit) => await broadcastsPage(visit))

  form('/broadcasts', 'broadcasts.send', async (visit, fields) => {
    const inEachLocale = (name: string) =>
      Object.fromEntries(readBrand().texts.locales.map((locale) => [locale, fields.text(`${name}-${locale}`)]))
    const text = { title: inEachLocale('title'), body: inEachLocale('body') }
    if (fields.text('to') === 'me') {
      await visit.send('notification', 'POST', '/operator/broadcasts/test', text)
      return broadcastsPage(visit, { fields, done: visit.texts.done['tested'] })
    }
    const made = await visit.send<Made>('notification', 'POST', '/operator/broadcasts', {
      ...text,
      reason: fields.text('reason')
    })
    return redirectAfter('/broadcasts', 'broadcast', made)
  })

  form('/broadcasts/:id/stop', 'broadcasts.send', async (visit) => {
    await visit.send('notification', 'POST', `/operator/broadcasts/${segment(visit.params['id'])}/stop`)
    return redirectAfter('/broadcasts', 'stopped')
  })
}

/** @param fields the form of a test, which stays as it was @param done what was done */
async function broadcastsPage (visit: Visit, { fields, done }: { fields?: Form, done?: string | undefined } = {}) {
  const { texts } = visit
  const found = await visit.find<{ broadcasts: Broadcast[] }>('notification', '/operator/broadcasts')
  return {
    title: texts.pages.broadcasts,
    content: html`<h1>${texts.pages.broadcasts}</h1>${
      done && html`<p class="note good" role="status">${done}</p>`
    }<div class="columns">
      <section aria-label="${texts.broadcasts.sent}">${
      rows(visit, found?.broadcasts, texts.broadcasts.none, (each) => broadcastRow(visit, each))
    }</section>
      <aside aria-label="${texts.broadcasts.write}">${
      visit.can('broadcasts.send') && writeForm(visit, fields)
    }</aside></div>`
  }
}

function broadcastRow (visit: Visit, { id, title, recipients, createdAt, finishedAt }: Broadcast) {
  const { texts, can, language } = visit
  const words = texts.broadcasts
  return html`<li><div class="what"><strong>${title[language] ?? Object.values(title)[0]}</strong>
      <p class="meta">${visit.texts.say('broadcasts.recipients', { number: recipients })} · ${
    time(visit, createdAt)
  }</p></div>
    <div class="state">${finishedAt ? badge(words.finished, 'good') : badge(words.running, 'warn')}
      ${
    !finishedAt && can('broadcasts.send') &&
    html`<form method="post" action="/broadcasts/${
      segment(id)
    }/stop"><button class="danger">${words.stop}</button></form>`
  }</div></li>`
}

function writeForm ({ texts }: Visit, sent?: Form) {
  const words = texts.broadcasts
  const field = (name: string, language: string, text: string) =>
    html`<label>${text}<textarea name="${name}-${language}" lang="${language}" rows="${
      name === 'title' ? 1 : 3
    }" maxlength="500" required>${sent?.text(`${name}-${language}`)}</textarea></label>`
  return html`<form method="post" action="/broadcasts" class="card">
    <h2>${words.write}</h2>
    <p class="note warn">${words.everybody}</p>
    ${
    readBrand().texts.locales.map((locale) =>
      html`<fieldset><legend>${nameOfLanguage(locale)}</legend>${field('title', locale, words.title)}${
        field('body', locale, words.body)
      }</fieldset>`
    )
  }
    ${reasonField(texts)}
    <p class="row"><button name="to" value="me" formnovalidate>${words.test}</button>
    <button class="primary" data-confirm="${words.confirm}">${words.send}</button></p>
  </form>`
}
