import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectTo, type Pages } from '../visits.ts'
import { badge, empty, segment, time } from './parts.ts'

interface Broadcast {
  id: string
  title: { en: string, id: string }
  recipients: number
  createdAt: string
  finishedAt: string | null
}

export function serveBroadcasts ({ page, form }: Pages) {
  page('/broadcasts', 'broadcasts.read', async (visit) => {
    const { texts } = visit
    const found = await visit.find<{ broadcasts: Broadcast[] }>('notification', '/operator/broadcasts')
    return {
      title: texts.pages.broadcasts,
      content: html`<h1>${texts.pages.broadcasts}</h1><div class="columns">
        <section aria-label="${texts.broadcasts.sent}">${
        found?.broadcasts.length
          ? html`<ol class="rows">${found.broadcasts.map((each) => broadcastRow(visit, each))}</ol>`
          : empty(found ? texts.broadcasts.none : texts.queue.unknown)
      }</section>
        <aside aria-label="${texts.broadcasts.write}">${visit.can('broadcasts.send') && writeForm(visit)}</aside></div>`
    }
  })

  form('/broadcasts', 'broadcasts.send', async (visit, fields) => {
    const both = (name: string) => ({ en: fields.text(`${name}-en`), id: fields.text(`${name}-id`) })
    await visit.send('notification', 'POST', '/operator/broadcasts', {
      title: both('title'),
      body: both('body'),
      reason: fields.text('reason')
    })
    return redirectTo('/broadcasts?done=broadcast')
  })

  form('/broadcasts/:id/stop', 'broadcasts.send', async (visit) => {
    await visit.send('notification', 'POST', `/operator/broadcasts/${segment(visit.params['id'])}/stop`)
    return redirectTo('/broadcasts?done=stopped')
  })
}

function broadcastRow (visit: Visit, { id, title, recipients, createdAt, finishedAt }: Broadcast) {
  const { texts, can, language } = visit
  const words = texts.broadcasts
  return html`<li><div class="what"><strong>${title[language]}</strong>
      <p class="meta">${words.recipients(recipients)} · ${time(visit, createdAt)}</p></div>
    <div class="state">${finishedAt ? badge(words.finished, 'good') : badge(words.running, 'warn')}
      ${
    !finishedAt && can('broadcasts.send') &&
    html`<form method="post" action="/broadcasts/${
      segment(id)
    }/stop"><button class="danger">${words.stop}</button></form>`
  }</div></li>`
}

function writeForm ({ texts: { broadcasts: words, people } }: Visit) {
  const field = (name: string, language: 'en' | 'id', text: string) =>
    html`<label>${text}<textarea name="${name}-${language}" lang="${language}" rows="${
      name === 'title' ? 1 : 3
    }" maxlength="500" required></textarea></label>`
  return html`<form method="post" action="/broadcasts" class="card">
    <h2>${words.write}</h2>
    <p class="note warn">${words.everybody}</p>
    <fieldset><legend>English</legend>${field('title', 'en', words.title)}${field('body', 'en', words.body)}</fieldset>
    <fieldset><legend>Indonesia</legend>${field('title', 'id', words.title)}${
    field('body', 'id', words.body)
  }</fieldset>
    <label>${people.reason}<input name="reason" minlength="3" maxlength="500" required></label>
    <button class="primary" data-confirm="${words.confirm}">${words.send}</button>
  </form>`
}
