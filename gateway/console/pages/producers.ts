import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { badge, cards, facts, keyOf, label, segment, time } from './parts.ts'

interface Producer {
  id: string
  name: string
  eventTypes: string[]
  eventsPerSecond: number
  droppedCount: number
  revokedAt: string | null
  lastUsedAt: string | null
  keys: { hint: string, createdAt: string, lastUsedAt: string | null, isRevoked: boolean }[]
}

const eventTypes = ['booking.confirmed', 'booking.reminder', 'booking.cancelled', 'admin.announcement']

export function serveProducers ({ page, form }: Pages) {
  page('/producers', 'producers.read', async (visit) => {
    const { texts } = visit
    const found = await visit.find<{ producers: Producer[] }>('notification', '/operator/producers')
    return {
      title: texts.pages.producers,
      content: html`<h1>${texts.pages.producers}</h1><p class="meta">${texts.producers.text}</p><div class="columns">
        <section aria-label="${texts.pages.producers}">${
        cards(visit, found?.producers, texts.producers.none, (each) => producerCard(visit, each))
      }</section>
        <aside aria-label="${texts.producers.add}">${visit.can('producers.change') && addForm(visit)}</aside></div>`
    }
  })

  form('/producers', 'producers.change', async (visit, fields) => {
    const name = fields.text('name')
    const { key } = await visit.send<{ key: string }>('notification', 'POST', '/operator/producers', {
      name,
      eventTypes: fields.list('eventTypes'),
      eventsPerSecond: fields.number('rate')
    })
    return keyPage(visit, { name, key })
  })

  form('/producers/:id/rotate', 'producers.change', async (visit, fields) => {
    const { key } = await visit.send<{ key: string }>('notification', 'POST', `${pathOf(visit)}/rotate`)
    return keyPage(visit, { name: fields.text('name'), key, isSecond: true })
  })

  form('/producers/:id/revoke-old-key', 'producers.change', async (visit) => {
    await visit.send('notification', 'POST', `${pathOf(visit)}/revoke-old-key`)
    return redirectAfter('/producers', 'old-key')
  })

  form('/producers/:id/revoke', 'producers.change', async (visit) => {
    await visit.send('notification', 'POST', `${pathOf(visit)}/revoke`)
    return redirectAfter('/producers', 'revoked')
  })
}

const pathOf = ({ params }: Visit) => `/operator/producers/${segment(params['id'])}`

/** The only page with a key. It is the answer to a form, so a reload does not show it again. */
function keyPage (
  { texts }: Visit,
  { name, key, isSecond = false }: { name: string, key: string, isSecond?: boolean }
) {
  const words = texts.producers
  return {
    title: texts.say('producers.newKey', { name }),
    content: html`<h1>${texts.say('producers.newKey', { name })}</h1><section class="card">
      <p class="note warn">${words.once}</p>
      <blockquote class="mono">Authorization: Bearer ${key}</blockquote>
      ${isSecond && html`<p>${words.stillValid}</p>`}
      <p class="row"><a class="button primary" href="/producers">${words.back}</a></p></section>`
  }
}

function producerCard (visit: Visit, producer: Producer) {
  const { texts: { producers: words }, can } = visit
  const { id, name, eventTypes: types, eventsPerSecond, droppedCount, revokedAt, lastUsedAt, keys } = producer
  const path = `/producers/${segment(id)}`
  const hasOldKey = keys.filter(({ isRevoked }) => !isRevoked).length > 1
  return html`<article class="card">
    <div class="row spread"><h2>${name}</h2>${
    revokedAt ? badge(words.revoked, 'bad') : badge(words.active, 'good')
  }</div>
    <p>${types.map((type) => html`${badge(label(words.typeNames, keyOf(type)))} `)}</p>
    <p class="meta">${visit.texts.say('producers.perSecond', { number: eventsPerSecond })} · ${
    lastUsedAt ? html`${words.lastUsed} ${time(visit, lastUsedAt)}` : words.neverUsed
  }${droppedCount > 0 && html` · ${visit.texts.say('producers.dropped', { number: droppedCount })}`}</p>
    <h3>${words.keys}</h3>
    ${
    facts(keys.map((key) => [
      `…${key.hint}`,
      html`${key.isRevoked ? badge(words.revoked, 'bad') : badge(words.active, 'good')} ${words.added} ${
        time(visit, key.createdAt)
      } · ${key.lastUsedAt ? html`${words.lastUsed} ${time(visit, key.lastUsedAt)}` : words.neverUsed}`
    ]))
  }
    ${
    !revokedAt && can('producers.change') &&
    html`<div class="row">
      <form method="post" action="${path}/rotate"><input type="hidden" name="name" value="${name}"><button>${words.rotate}</button></form>
      ${
      hasOldKey &&
      html`<form method="post" action="${path}/revoke-old-key"><button data-confirm="${words.revokeOldConfirm}">${words.revokeOld}</button></form>`
    }
      <form method="post" action="${path}/revoke"><button class="danger" data-confirm="${words.revokeConfirm}">${words.revoke}</button></form></div>`
  }
  </article>`
}

const addForm = ({ texts: { producers: words } }: Visit) =>
  html`<form method="post" action="/producers" class="card"><h2>${words.add}</h2>
    <label>${words.name}<input name="name" pattern="[a-z][a-z0-9\\-]{1,39}" maxlength="40" required autocomplete="off" spellcheck="false"></label>
    <p class="meta">${words.nameHint}</p>
    <fieldset><legend>${words.types}</legend>${
    eventTypes.map((type) =>
      html`<label><input type="checkbox" name="eventTypes" value="${type}"> ${
        label(words.typeNames, keyOf(type))
      }</label>`
    )
  }</fieldset>
    <label>${words.rate}<input type="number" name="rate" value="50" min="1" max="10000" required></label>
    <button class="primary">${words.add}</button></form>`
