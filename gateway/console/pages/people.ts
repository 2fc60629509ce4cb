import { html, type Html } from '../html.ts'
import type { Form } from '../forms.ts'
import type { Texts } from '../texts.ts'
import { withQuery, type Visit } from '../visit.ts'
import { redirectAfter, redirectTo, type Made, type Pages } from '../visits.ts'
import { decisionCard, decisionFields, readDecision, type Decision } from './decisions.ts'
import { badge, cards, empty, facts, label, options, segment, time } from './parts.ts'
import { caseRow, caseServices, dismissAll, markOf, type CaseSummary, type QueuedCase } from './queue.ts'

export interface Person {
  accountId: string
  name: string
  email: string
  emailVerified: boolean
  memberSince: string
  isDeletionPending: boolean
  status: string
  restrictions: { scope: string, until: string | null }[]
  strikes: number
  sessions: number
  providers: { provider: string, linkedAt: string }[]
  /** Null for a service that does not respond. */
  moderation: Record<'social' | 'fitmatch', Reports | null>
}

interface Reports {
  reportsMade: number
  reportsUpheld: number
}

interface Appearance {
  name: string
  username: string
  image: string | null
  age: number | null
  city: string | null
}

export const pathOfPerson = (accountId: string, reason: string, page = '') =>
  withQuery(`/people/${segment(accountId)}${page}`, { reason })

interface PersonForm {
  /** Below the person, such as `sessions/end`, here and at identity. */
  path: string
  right: string
  /** What was done. */
  done: string
  /** The page of the person to which it leads back. */
  page?: string
  /** What is sent besides the reason. */
  bodyOf?: (fields: Form) => object
}

/** A form that changes something of a person, and comes back with the same reason. */
export const servePersonForm = ({ form }: Pages, { path, right, done, page, bodyOf = () => ({}) }: PersonForm) =>
  form(`/people/:id/${path}`, right, async (visit, fields) => {
    const { params: { id = '' } } = visit
    const reason = fields.text('reason')
    await visit.send('identity', 'POST', `/operator/people/${segment(id)}/${path}`, { ...bodyOf(fields), reason })
    return redirectAfter(pathOfPerson(id, reason, page), done)
  })

interface PersonPage {
  path: string
  right: string
  title: (texts: Texts) => string
  content: (visit: Visit, person: { id: string, reason: string }) => Promise<Html>
}

/** A page about one person, which is read for a reason. */
export const servePersonPage = ({ page }: Pages, { path, right, title: titleOf, content }: PersonPage) =>
  page(`/people/:id/${path}`, right, async (visit) => {
    const { texts, params: { id = '' }, query: { reason } } = visit
    const title = titleOf(texts)
    if (!reason) return { title, content: reasonPage(visit, `/people/${segment(id)}/${path}`) }
    return {
      title,
      content: html`
        <p class="crumbs"><a href="${
        pathOfPerson(id, reason)
      }" data-key="u">${texts.people.person}<kbd aria-hidden="true">u</kbd></a></p>
        <h1>${title}</h1>
        ${await content(visit, { id, reason })}`
    }
  })

export function servePeople (pages: Pages) {
  const { page, form, picture } = pages
  page('/people', 'people.read', async (visit) => ({
    title: visit.texts.pages.people,
    content: searchPage(visit)
  }))

  // A form, so that no address is in the history of the browser or in a log.
  form('/people', 'people.read', async (visit, fields) => {
    const [q, reason] = [fields.text('q'), fields.text('reason')]
    const { accountId } = await visit.send<{ accountId: string }>('identity', 'POST', '/operator/people/search', {
      q,
      reason
    })
    return redirectTo(pathOfPerson(accountId, reason))
  })

  page('/people/:id', 'people.read', async (visit) => {
    const { query: { reason }, params: { id = '' }, texts } = visit
    if (!reason) return { title: texts.people.person, content: reasonPage(visit, `/people/${segment(id)}`) }
    return await personPage(visit, id, reason)
  })

  servePersonForm(pages, { path: 'sessions/end', right: 'sessions.end', done: 'sessionsEnded' })
  servePersonForm(pages, {
    path: 'providers/remove',
    right: 'providers.remove',
    done: 'providerRemoved',
    bodyOf: (fields) => ({ provider: fields.text('provider') })
  })

  picture('/people/:id/picture', 'people.read', async (visit) =>
    await visit.fetchPicture(
      'profile',
      withQuery(`/operator/people/${segment(visit.params['id'])}/picture`, { reason: visit.query['reason'] })
    ))

  form('/people/:id/contact', 'people.contact', async (visit, fields) => {
    const { params: { id = '' }, texts } = visit
    const reason = fields.text('reason')
    const path = `/operator/people/${segment(id)}/contact`
    const { email, locale } = await visit.get<{ email: string, locale: string }>('identity', path, { reason })
    return {
      title: texts.people.contact,
      content: html`<h1>${texts.people.contact}</h1>
        ${facts([[texts.people.address, email], [texts.people.language, locale]])}
        <p><a class="button" href="${pathOfPerson(id, reason)}">${texts.layout.back}</a></p>`
    }
  })

  form('/people/:id/decisions', 'cases.decide', async (visit, fields) => {
    const { params: { id = '' } } = visit
    const made = await visit.send<Made>('identity', 'POST', '/operator/decisions', {
      case: null,
      accountId: id,
      ...readDecision(fields)
    })
    return redirectAfter(pathOfPerson(id, fields.text('why')), 'decided', made)
  })

  form('/people/:id/erasure', 'erasures.change', async (visit, fields) => {
    const { params: { id = '' } } = visit
    const reason = fields.text('reason')
    const made = await visit.send<Made>('identity', 'POST', '/operator/erasures', {
      accountId: id,
      days: fields.number('days'),
      reason
    })
    return redirectAfter(pathOfPerson(id, reason), 'erasure', made)
  })

  form('/people/:id/dismiss', 'cases.decide', async (visit, fields) => {
    const { params: { id = '' } } = visit
    const cases = await findCases(visit, id)
    await dismissAll(visit, cases.filter(({ resolvedAt }) => resolvedAt === null).map((each) => markOf(each)))
    return redirectAfter(pathOfPerson(id, fields.text('why')), 'dismissed')
  })
}

const searchPage = ({ texts: { people, pages } }: Visit) =>
  html`<h1>${pages.people}</h1>
  <form method="post" action="/people" class="card narrow">
    <label>${people.search}<input name="q" required maxlength="254" autocomplete="off" spellcheck="false" autofocus></label>
    <p class="meta">${people.searchHint}</p>
    <label>${people.reason}<input name="reason" required minlength="3" maxlength="500" autocomplete="off"></label>
    <p class="meta">${people.reasonHint}</p>
    <button class="primary">${people.find}</button>
  </form>`

/** Asks why before anything about a person is read. */
const reasonPage = ({ texts: { people } }: Visit, path: string) =>
  html`<h1>${people.whyTitle}</h1>
  <form method="get" action="${path}" class="card narrow">
    <label>${people.reason}<input name="reason" required minlength="3" maxlength="500" autocomplete="off" autofocus></label>
    <p class="meta">${people.reasonHint}</p>
    <button class="primary">${people.open}</button>
  </form>`

async function findCases (visit: Visit, accountId: string): Promise<QueuedCase[]> {
  if (!visit.can('cases.read')) return []
  const found = await Promise.all(caseServices.map(async (service) => {
    const page = await visit.find<{ cases: CaseSummary[] }>(service, '/operator/cases', { accountId, limit: 50 })
    return page?.cases.map((each) => ({ ...each, service })) ?? []
  }))
  return found.flat().sort((a, b) => a.id < b.id ? 1 : -1)
}

async function personPage (visit: Visit, id: string, reason: string) {
  const [{ person }, appearance, decisions, cases] = await Promise.all([
    visit.get<{ person: Person }>('identity', `/operator/people/${segment(id)}`, { reason }),
    // Somebody without a profile has nothing there.
    visit.find<{ person: Appearance }>('profile', `/operator/people/${segment(id)}`, { reason }).catch(() => undefined),
    visit.find<{ decisions: Decision[] }>('identity', '/operator/decisions', { accountId: id }),
    findCases(visit, id)
  ])
  const { texts } = visit
  return {
    title: person.name,
    content: html`
      <div class="head person">
        ${
      appearance?.person.image && html`<details class="picture portrait"><summary>${texts.people.picture}</summary>
          <label><input type="checkbox"> ${texts.picture.clear}</label>
          <img src="${pathOfPerson(id, reason, '/picture')}" alt="${texts.people.picture}" loading="lazy"></details>`
    }
        <div><h1>${person.name}</h1><p class="meta">${appearance && `@${appearance.person.username}`} ${
      statusBadge(visit, person)
    }</p></div>
      </div>
      <div class="columns">
        <section aria-label="${texts.people.accountStatus}">
          <div class="card">${personFacts(visit, person, appearance?.person)}</div>
          ${casesOf(visit, id, reason, cases)}
          <h2>${texts.people.decisions}</h2>
          ${cards(visit, decisions?.decisions, texts.people.noDecisions, (each) => decisionCard(visit, each))}
        </section>
        <aside aria-label="${texts.people.actions}">${personActions(visit, person, reason)}</aside>
      </div>`
  }
}

const statusKinds: Record<string, 'good' | 'warn' | 'bad'> = {
  GOOD: 'good',
  WARNED: 'warn',
  RESTRICTED: 'bad',
  BANNED: 'bad'
}

const statusBadge = ({ texts }: Visit, { status, isDeletionPending }: Person) =>
  html`${badge(label(texts.accountStatuses, status), statusKinds[status] ?? 'plain')} ${
    isDeletionPending && badge(texts.people.deletionPending, 'warn')
  }`

function personFacts (visit: Visit, person: Person, appearance: Appearance | undefined) {
  const { people, scopes } = visit.texts
  return facts([
    [people.address, html`${person.email} ${person.emailVerified ? '' : badge(people.unverified, 'warn')}`],
    [people.age, appearance?.age],
    [people.city, appearance?.city],
    [people.member, time(visit, person.memberSince)],
    [people.strikes, person.strikes],
    [people.sessions, person.sessions],
    [
      people.providers,
      person.providers.length > 0 &&
      html`<ul class="plain">${
        person.providers.map(({ provider, linkedAt }) =>
          html`<li>${label(people.providerNames, provider)} ${time(visit, linkedAt)}</li>`
        )
      }</ul>`
    ],
    [people.reportsMade, reportsMade(visit, person)],
    [
      people.restrictions,
      person.restrictions.length > 0 &&
      html`<ul class="plain">${
        person.restrictions.map(({ scope, until }) =>
          html`<li>${label(scopes, scope)}${until && html` · ${visit.texts.decision.until} ${time(visit, until)}`}</li>`
        )
      }</ul>`
    ]
  ])
}

/** Of all services that respond. */
function reportsMade ({ texts: { say } }: Visit, { moderation: { social, fitmatch } }: Person) {
  const known = [social, fitmatch].filter((each) => each !== null)
  const sum = (of: (each: Reports) => number) => known.reduce((total, each) => total + of(each), 0)
  return known.length > 0 &&
    say('people.reportsCount', {
      made: sum((each) => each.reportsMade),
      upheld: sum((each) => each.reportsUpheld)
    })
}

function casesOf (visit: Visit, id: string, reason: string, cases: QueuedCase[]) {
  const { texts } = visit
  if (!visit.can('cases.read')) return ''
  const open = cases.filter(({ resolvedAt }) => resolvedAt === null)
  return html`<h2>${texts.people.cases}</h2>
    ${
    cases.length === 0
      ? empty(caseServices.some((each) => visit.unavailable.has(each)) ? texts.queue.unknown : texts.people.noCases)
      : html`<ol class="rows">${cases.map((each) => caseRow(visit, each))}</ol>`
  }
    ${
    open.length > 1 && visit.can('cases.decide') &&
    html`<form method="post" action="/people/${id}/dismiss"><input type="hidden" name="why" value="${reason}">
        <button data-confirm="${texts.queue.dismissConfirm}">${
      texts.say('people.dismissAll', { number: open.length })
    }</button></form>`
  }`
}

function personActions (visit: Visit, person: Person, reason: string): Html {
  const { accountId, isDeletionPending, providers } = person
  const { texts, can } = visit
  const words = texts.people
  const lifted = scopesToLift(visit, person)
  return html`
    <div class="card"><h2>${words.support}</h2>
      ${
    can('deliveries.read') &&
    html`<p><a class="button" href="${pathOfPerson(accountId, reason, '/messages')}">${words.messages}</a></p>`
  }
      ${
    can('subscriptions.read') &&
    html`<p><a class="button" href="${
      pathOfPerson(accountId, reason, '/subscription')
    }">${texts.subscriptions.title}</a></p>`
  }
      ${
    can('people.contact') &&
    html`<form method="post" action="/people/${accountId}/contact"><input type="hidden" name="reason" value="${reason}">
        <button>${words.showContact}</button></form>`
  }
      ${
    can('sessions.end') &&
    html`<form method="post" action="/people/${accountId}/sessions/end"><input type="hidden" name="reason" value="${reason}">
        <button class="danger" data-confirm="${words.endSessionsConfirm}">${words.endSessions}</button></form>`
  }
      ${
    can('providers.remove') &&
    [...new Set(providers.map(({ provider }) => provider))].map((provider) =>
      html`<form method="post" action="/people/${accountId}/providers/remove">
        <input type="hidden" name="reason" value="${reason}"><input type="hidden" name="provider" value="${provider}">
        <button class="danger" data-confirm="${words.removeProviderConfirm}">${
        texts.say('people.removeProvider', { name: label(words.providerNames, provider) })
      }</button></form>`
    )
  }
      <p class="meta">${words.because} ${reason}</p>
    </div>
    ${
    can('cases.decide') &&
    html`<form method="post" action="/people/${accountId}/decisions" class="card">
      <h2>${texts.decision.withoutCase}</h2>
      <input type="hidden" name="why" value="${reason}">
      ${
      lifted.length > 0 &&
      html`<label><input type="checkbox" name="action" value="LIFT"> ${texts.actions.LIFT}</label>
        <div class="row indent"><label>${texts.decision.scope}<select name="lift">${
        options(texts.scopes, lifted)
      }</select></label></div>`
    }
      ${decisionFields(visit, { reason: 'OTHER' })}
      <button class="primary">${texts.decision.decide}</button>
    </form>`
  }
    ${can('erasures.change') && !isDeletionPending && erasureForm(visit, accountId, reason)}`
}

/** Lifting everything ends a ban too. */
function scopesToLift ({ can }: Visit, { status, restrictions }: Person) {
  const scopes = restrictions.map(({ scope }) => scope)
  if (status !== 'BANNED') return scopes
  return can('bans.make') ? [...new Set([...scopes, 'ALL'])] : scopes.filter((scope) => scope !== 'ALL')
}

const erasureDays = [28, 14, 7, 0]

/** For people who ask for it in another way than in the app. */
const erasureForm = ({ texts: { people, say } }: Visit, accountId: string, reason: string) =>
  html`<details class="card"><summary>${people.erase}</summary><p class="meta">${people.eraseText}</p>
    <form method="post" action="/people/${accountId}/erasure"><input type="hidden" name="reason" value="${reason}">
      <label>${people.eraseAfter}<select name="days">${
    erasureDays.map((each) => html`<option value="${each}">${say('decision.dayCount', { number: each })}</option>`)
  }</select></label>
      <button class="danger" data-confirm="${people.eraseConfirm}">${people.erase}</button></form></details>`
