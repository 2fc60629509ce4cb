import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { badge, cards, keyOf, label, segment, time } from './parts.ts'

interface Endpoint {
  id: string
  url: string
  eventTypes: string[]
  pending: number
  createdAt: string
  lastSuccessAt: string | null
  disabledAt: string | null
  disabledReason: string | null
}

const eventTypes = [
  'account.registered',
  'account.verified',
  'account.deleted',
  'subscription.changed',
  'post.created',
  'report.decided',
  'match.created'
]

interface Delivery {
  id: string
  endpointId: string
  messageId: string
  type: string
  status: 'pending' | 'sent' | 'failed'
  attempts: number
  error: string | null
  dueAt: string
  queuedAt: string
  finishedAt: string | null
}

export function serveWebhooks ({ page, form }: Pages) {
  page('/webhooks', 'webhooks.read', async (visit) => {
    const { texts } = visit
    const words = texts.webhooks
    const found = await visit.find<{ endpoints: Endpoint[], deliveries: Delivery[] }>(
      'notification',
      '/operator/webhooks'
    )
    const hosts = new Map(found?.endpoints.map(({ id, url }) => [id, hostOf(url)]))
    return {
      title: texts.pages.webhooks,
      content: html`<h1>${texts.pages.webhooks}</h1><p class="meta">${words.text}</p><div class="columns">
        <div><section aria-label="${texts.pages.webhooks}">${
        cards(visit, found?.endpoints, words.none, (each) => endpointCard(visit, each))
      }</section>
        ${
        found && found.deliveries.length > 0 &&
        html`<section><h2>${words.recent}</h2><ol class="rows">${
          found.deliveries.map((each) => deliveryRow(visit, each, hosts.get(each.endpointId) ?? ''))
        }</ol></section>`
      }</div>
        <aside aria-label="${words.add}">${visit.can('webhooks.change') && addForm(visit)}</aside></div>`
    }
  })

  form('/webhooks', 'webhooks.change', async (visit, fields) => {
    const url = fields.text('url')
    const { secret } = await visit.send<{ secret: string }>('notification', 'POST', '/operator/webhooks', {
      url,
      eventTypes: fields.list('eventTypes')
    })
    return secretPage(visit, hostOf(url), secret)
  })

  form('/webhooks/:id/disable', 'webhooks.change', async (visit) => {
    await visit.send('notification', 'POST', `${pathOf(visit)}/disable`)
    return redirectAfter('/webhooks', 'webhook-disabled')
  })

  form('/webhooks/:id/enable', 'webhooks.change', async (visit) => {
    await visit.send('notification', 'POST', `${pathOf(visit)}/enable`)
    return redirectAfter('/webhooks', 'webhook-enabled')
  })

  form('/webhooks/:id/replay', 'webhooks.change', async (visit, fields) => {
    // The field has no time zone; its label says that it is in UTC.
    await visit.send('notification', 'POST', `${pathOf(visit)}/replay`, { since: `${fields.text('since')}Z` })
    return redirectAfter('/webhooks', 'webhooks-replayed')
  })
}

const pathOf = ({ params }: Visit) => `/operator/webhooks/${segment(params['id'])}`
const hostOf = (url: string) => URL.parse(url)?.host ?? url

/** The only page with a secret. It is the answer to a form, so a reload does not show it again. */
function secretPage ({ texts: { webhooks: words, say } }: Visit, host: string, secret: string) {
  return {
    title: say('webhooks.secretOf', { host }),
    content: html`<h1>${say('webhooks.secretOf', { host })}</h1><section class="card">
      <p class="note warn">${words.once}</p>
      <blockquote class="mono">${secret}</blockquote>
      <p class="row"><a class="button primary" href="/webhooks">${words.back}</a></p></section>`
  }
}

function endpointCard (visit: Visit, endpoint: Endpoint) {
  const { texts: { webhooks: words }, can } = visit
  const { id, url, eventTypes, pending, lastSuccessAt, disabledAt, disabledReason } = endpoint
  const path = `/webhooks/${segment(id)}`
  return html`<article class="card">
    <div class="row spread"><h2>${hostOf(url)}</h2>${
    disabledAt ? badge(words.disabled, 'bad') : badge(words.enabled, 'good')
  }</div>
    <p class="mono">${url}</p>
    <p>${eventTypes.map((type) => html`${badge(label(words.types, keyOf(type)))} `)}</p>
    <p class="meta">${visit.texts.say('webhooks.pending', { number: pending })} · ${
    lastSuccessAt ? html`${words.lastSuccess} ${time(visit, lastSuccessAt)}` : words.noSuccess
  }</p>
    ${disabledAt && html`<p class="note bad">${words.disabledSince} ${time(visit, disabledAt)}: ${disabledReason}</p>`}
    ${
    can('webhooks.change') && (disabledAt
      ? html`<form method="post" action="${path}/enable"><button class="primary">${words.enable}</button></form>`
      : html`<form method="post" action="${path}/replay" class="row"><label>${words.since}<input type="datetime-local" name="since" required></label>
      <button>${words.replay}</button></form>
      <form method="post" action="${path}/disable"><button class="danger" data-confirm="${words.disableConfirm}">${words.disable}</button></form>`)
  }
  </article>`
}

const kinds = { pending: 'warn', sent: 'good', failed: 'bad' } as const

function deliveryRow (visit: Visit, delivery: Delivery, host: string) {
  const { webhooks: words } = visit.texts
  const { type, status, attempts, error, dueAt, queuedAt, finishedAt, messageId } = delivery
  return html`<li><div class="what"><strong>${label(words.types, keyOf(type))}</strong> → ${host}
    ${error && html`<p class="mono">${error}</p>`}
    <p class="meta">${visit.texts.say('webhooks.attempts', { number: attempts })} · ${time(visit, queuedAt)}${
    status === 'pending' && attempts > 0 && html` · ${words.next} ${time(visit, dueAt)}`
  } · <span class="mono">${messageId}</span></p></div>
    <div class="state">${badge(words.states[status], kinds[status])}<span class="meta">${
    finishedAt && time(visit, finishedAt)
  }</span></div></li>`
}

const addForm = ({ texts: { webhooks: words } }: Visit) =>
  html`<form method="post" action="/webhooks" class="card"><h2>${words.add}</h2>
    <label>${words.url}<input type="url" name="url" maxlength="2000" required autocomplete="off" placeholder="https://"></label>
    <p class="meta">${words.urlHint}</p>
    <fieldset><legend>${words.what}</legend>${
    eventTypes.map((type) =>
      html`<label><input type="checkbox" name="eventTypes" value="${type}"> ${label(words.types, keyOf(type))}</label>`
    )
  }</fieldset>
    <button class="primary">${words.add}</button></form>`
