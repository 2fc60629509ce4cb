import { html, type Html } from '../html.ts'
import { PageNotFound } from '../errors.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { actionTexts, badge, empty, facts, label, segment, time } from './parts.ts'
import { pathOfPerson } from './people.ts'

/** What happens once it is confirmed, by the kind of the proposal. */
interface Payload {
  decision?: {
    case: { service: string, id: string } | null,
    actions: { type: string, scope?: string }[],
    statement: string,
    note?: string
  }
  /** Of a broadcast, by language. */
  title?: Record<string, string>
  body?: Record<string, string>
  /** For how long a deletion can be canceled. */
  days?: number
  /** Of the hold of a case. */
  isHeld?: boolean
  /** Of the hold of a deletion: HOLD or RELEASE. Of operators. */
  change?: string
  hold?: { days: number }
  role?: string
}

interface Proposal {
  id: string
  kind: string
  subject: string
  accountId: string | null
  reason: string
  payload: Payload
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
    return redirectAfter('/proposals', `proposal-${change}`)
  })
}

function proposalCard (visit: Visit, service: string, proposal: Proposal) {
  const { texts, staff, can } = visit
  const words = texts.proposals
  const path = `/proposals/${service}/${segment(proposal.id)}`
  const isOwn = proposal.proposedBy === staff.id
  return html`<article class="card">
    <div class="row spread"><h2>${label(words.kinds, proposal.kind)}</h2>${isOwn && badge(words.yours, 'warn')}</div>
    <p>${label(texts.reasons, proposal.reason)}</p>
    ${contentOf(visit, service, proposal)}
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

/** All that the second operator confirms. */
function contentOf (visit: Visit, service: string, { kind, subject, payload }: Proposal): Html {
  const { texts } = visit
  const { decision, title = {}, body = {}, days, isHeld, change, hold, role } = payload
  const dayCount = (number: number) => texts.say('decision.dayCount', { number })
  switch (kind) {
    case 'BAN':
      return html`${decision && decisionOf(visit, decision)}`
    case 'BROADCAST':
      return html`${
        Object.entries(title).map(([locale, text]) =>
          html`<blockquote lang="${locale}"><strong>${text}</strong><br>${body[locale]}</blockquote>`
        )
      }`
    case 'ERASE':
      return facts([[texts.people.eraseAfter, days !== undefined && dayCount(days)]])
    case 'HOLD':
      return service === 'identity'
        ? html`<p>${change === 'RELEASE' ? texts.erasures.release : texts.erasures.hold} ${
          hold && html`· ${dayCount(hold.days)}`
        }</p>`
        : html`<p>${isHeld ? texts.hold.hold : texts.hold.release} · <a href="/cases/${service}/${
          segment(subject)
        }">${texts.decision.openCase}</a></p>`
    default:
      return html`<p>${label(texts.proposals.staff, change)} ${subject} ${role && badge(label(texts.roles, role))}</p>`
  }
}

const decisionOf = (visit: Visit, { case: decided, actions, statement, note }: NonNullable<Payload['decision']>) =>
  html`${actionTexts(visit, actions)}
    ${statement && html`<blockquote>${statement}</blockquote>`}
    ${note && html`<p class="meta">${visit.texts.decision.note}: ${note}</p>`}
    ${
    decided &&
    html`<p><a href="/cases/${decided.service}/${segment(decided.id)}">${visit.texts.decision.openCase}</a></p>`
  }`
