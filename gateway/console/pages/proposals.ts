import { html } from '../html.ts'
import { PageNotFound } from '../errors.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { badge, empty, label, segment, time } from './parts.ts'
import { pathOfPerson } from './people.ts'

interface Proposal {
  id: string
  kind: string
  subject: string
  accountId: string | null
  reason: string
  payload: { statement?: unknown, title?: { en?: unknown }, change?: string, role?: string }
  proposedBy: string
  createdAt: string
  expiresAt: string
}

const services = ['identity', 'social', 'fitmatch', 'notification'] as const

/** What takes two operators: one proposes it, another one confirms it here. */
export function serveProposals ({ page, form }: Pages) {
  page('/proposals', 'proposals.read', async (visit) => {
    const { texts } = visit
    const found = (await Promise.all(services.map(async (service) => {
      const list = await visit.find<{ proposals: Proposal[] }>(service, '/operator/proposals')
      return list?.proposals.map((proposal) => ({ service, proposal })) ?? []
    }))).flat().sort((a, b) => a.proposal.createdAt < b.proposal.createdAt ? -1 : 1)
    return {
      title: texts.pages.proposals,
      content: html`<h1>${texts.pages.proposals}</h1><p class="meta">${texts.proposals.text}</p>${
        found.length > 0
          ? found.map(({ service, proposal }) => proposalCard(visit, service, proposal))
          : empty(visit.unavailable.size > 0 ? texts.queue.unknown : texts.proposals.none)
      }`
    }
  })

  form('/proposals/:service/:id/:change', 'proposals.decide', async (visit) => {
    const { params: { id, change } } = visit
    const service = services.find((each) => each === visit.params['service'])
    if (!service || !['confirm', 'withdraw'].some((each) => each === change)) throw new PageNotFound()
    await visit.send(service, 'POST', `/operator/proposals/${segment(id)}/${change}`)
    return redirectAfter(undefined, '/proposals', `proposal-${change}`)
  })
}

function proposalCard (visit: Visit, service: string, proposal: Proposal) {
  const { texts, staff, can } = visit
  const words = texts.proposals
  const path = `/proposals/${service}/${segment(proposal.id)}`
  const { statement, title, change, role } = proposal.payload
  const text = typeof statement === 'string' ? statement : typeof title?.en === 'string' ? title.en : ''
  const isOwn = proposal.proposedBy === staff.id
  return html`<article class="card">
    <div class="row spread"><h2>${label(words.kinds, proposal.kind)}</h2>${isOwn && badge(words.yours, 'warn')}</div>
    <p>${proposal.reason}${
    proposal.kind === 'STAFF' &&
    html`${label(words.staff, change)} ${proposal.subject} ${role && badge(label(texts.roles, role))}`
  }</p>
    ${text && html`<blockquote>${text}</blockquote>`}
    <p class="meta">${time(visit, proposal.createdAt)} · ${words.expires} ${time(visit, proposal.expiresAt)}${
    proposal.accountId &&
    html` · <a href="${
      pathOfPerson(proposal.accountId, `${words.reason} ${proposal.id}`)
    }">${texts.people.openPerson}</a>`
  }</p>
    ${
    can('proposals.decide') &&
    html`<div class="row">${
      !isOwn &&
      html`<form method="post" action="${path}/confirm"><button class="primary" data-confirm="${words.confirmQuestion}">${words.confirm}</button></form>`
    }<form method="post" action="${path}/withdraw"><button>${words.withdraw}</button></form></div>`
  }
  </article>`
}
