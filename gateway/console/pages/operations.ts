import { serviceNames, type ServiceName } from '../services.ts'
import { PageNotFound } from '../errors.ts'
import { html } from '../html.ts'
import { withQuery, type Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { badge, empty, facts, more, rows, segment, time } from './parts.ts'

interface Health {
  status: string
  degraded: boolean
  down: string[]
  failedMessages: number
  deadLetters: number
}

interface DeadLetter {
  key: string
  type: string
  attempts: number
  error: string
  firstFailedAt: string
  deadSince: string | null
}

interface Entry {
  number: number
  staffId: string
  role: string
  action: string
  subject: string | null
  reason: string | null
  requestId: string
  createdAt: string
}

/** What each service answers; undefined for those that do not respond. */
const fromAll = async <T>(visit: Visit, path: string) =>
  await Promise.all(serviceNames.map(async (service) => ({ service, found: await visit.find<T>(service, path) })))

/** @throws PageNotFound */
function serviceOf ({ params, query }: Visit): ServiceName {
  const service = serviceNames.find((each) => each === (params['service'] ?? query['service'] ?? 'identity'))
  if (!service) throw new PageNotFound()
  return service
}

export function serveOperations ({ page, form }: Pages) {
  page('/system', 'health.read', async (visit) => {
    const services = await fromAll<Health>(visit, '/operator/health')
    return {
      title: visit.texts.pages.system,
      content: html`<h1>${visit.texts.pages.system}</h1><div class="tiles">${
        services.map(({ service, found }) => healthTile(visit, service, found))
      }</div>`
    }
  })

  page('/dead-letters', 'dead-letters.read', async (visit) => {
    const { texts } = visit
    const services = await fromAll<{ deadLetters: DeadLetter[] }>(visit, '/operator/dead-letters')
    const letters = services.flatMap(({ service, found }) =>
      found?.deadLetters.map((letter) => ({ service, letter })) ?? []
    )
    return {
      title: texts.pages.deadLetters,
      content: html`<h1>${texts.pages.deadLetters}</h1><p class="meta">${texts.deadLetters.text}</p>${
        letters.length === 0
          ? empty(visit.unavailable.size > 0 ? texts.queue.unknown : texts.deadLetters.none)
          : letters.map(({ service, letter }) => letterCard(visit, service, letter))
      }`
    }
  })

  form('/dead-letters/:service/:key/replay', 'dead-letters.change', async (visit) => {
    await visit.send(serviceOf(visit), 'POST', `/operator/dead-letters/${segment(visit.params['key'])}/replay`)
    return redirectAfter('/dead-letters', 'replayed')
  })

  form('/dead-letters/:service/:key/delete', 'dead-letters.change', async (visit) => {
    await visit.send(serviceOf(visit), 'DELETE', `/operator/dead-letters/${segment(visit.params['key'])}`)
    return redirectAfter('/dead-letters', 'deleted')
  })

  page('/audit', 'audit.read', async (visit) => {
    const { texts, query } = visit
    const service = serviceOf(visit)
    const [found, names] = await Promise.all([
      visit.find<{ entries: Entry[], nextCursor: string | null }>(service, '/operator/audit', {
        limit: 50,
        before: query['before']
      }),
      readNames(visit)
    ])
    return {
      title: texts.pages.audit,
      content: html`<h1>${texts.pages.audit}</h1><p class="meta">${texts.audit.text}</p>
        <ul class="tabs" aria-label="${texts.audit.service}">${
        serviceNames.map((each) =>
          html`<li><a href="/audit?service=${each}"${each === service && html` aria-current="true"`}>${each}</a></li>`
        )
      }</ul>
        ${rows(visit, found?.entries, texts.audit.none, (each) => entryRow(visit, each, names))}
        ${found?.nextCursor && more(texts, withQuery('/audit', { service, before: found.nextCursor }))}`
    }
  })
}

function healthTile ({ texts }: Visit, service: ServiceName, health: Health | undefined) {
  const words = texts.system
  return html`<section class="card"><div class="row spread"><h2>${service}</h2>${
    health === undefined
      ? badge(words.down, 'bad')
      : health.degraded || health.status !== 'ready'
      ? badge(words.degraded, 'warn')
      : badge(words.ready, 'good')
  }</div>${
    health && facts([
      [words.missing, health.down.join(', ')],
      [words.failed, health.failedMessages],
      [
        words.dead,
        health.deadLetters > 0
          ? html`<a href="/dead-letters">${health.deadLetters}</a>`
          : health.deadLetters
      ]
    ])
  }</section>`
}

function letterCard (visit: Visit, service: ServiceName, letter: DeadLetter) {
  const words = visit.texts.deadLetters
  const path = `/dead-letters/${service}/${segment(letter.key)}`
  return html`<article class="card">
    <div class="row spread"><h2 class="mono">${letter.type}</h2>${badge(service)}</div>
    <blockquote class="mono">${letter.error}</blockquote>
    <p class="meta">${visit.texts.say('deadLetters.attempts', { number: letter.attempts })} · ${words.since} ${
    time(visit, letter.deadSince ?? letter.firstFailedAt)
  } · <span class="mono">${letter.key}</span></p>
    ${
    visit.can('dead-letters.change') &&
    html`<div class="row"><form method="post" action="${path}/replay"><button class="primary">${words.replay}</button></form>
      <form method="post" action="${path}/delete"><button class="danger" data-confirm="${words.deleteConfirm}">${words.delete}</button></form></div>`
  }
  </article>`
}

/** The addresses of the operators by their ids; empty for somebody who cannot see the operators. */
async function readNames (visit: Visit): Promise<Map<string, string>> {
  const found = visit.can('staff.read')
    ? await visit.find<{ staff: { id: string, email: string }[] }>('identity', '/operator/staff')
    : undefined
  return new Map(found?.staff.map(({ id, email }) => [id, email]))
}

const entryRow = (
  visit: Visit,
  { number, staffId, role, action, subject, reason, requestId, createdAt }: Entry,
  names: Map<string, string>
) =>
  html`<li><div class="what"><strong class="mono">${action}</strong>
    ${reason && html`<p>${reason}</p>`}
    <p class="meta"><span class="mono">${subject}</span></p></div>
    <div class="state"><span class="meta">${time(visit, createdAt)}<br>${visit.texts.roles[role as 'ADMIN'] ?? role} ${
    staffId === visit.staff.id
      ? visit.texts.audit.you
      : names.get(staffId) ?? html`<span class="mono">${staffId}</span>`
  }<br><span class="mono" title="${requestId}">#${number}</span></span></div></li>`
