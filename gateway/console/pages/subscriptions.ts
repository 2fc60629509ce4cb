import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import type { Pages } from '../visits.ts'
import { badge, empty, facts, label, rows, segment, time } from './parts.ts'
import { servePersonForm, servePersonPage } from './people.ts'

interface Purchase {
  store: string
  environment: string
  productId: string
  planId: string
  saidState: string
  state: string
  willRenew: boolean
  isTrial: boolean
  isFamilyShared: boolean
  isReplaced: boolean
  isMoved: boolean
  periodEnd: string
  countsUntil: string
  answeredAt: string | null
  asksAt: string | null
  isAcknowledged: boolean
  moves: number
  isChosen: boolean
}

interface Grant {
  planId: string
  reason: string
  givenBy: string | null
  startsAt: string
  endsAt: string
  endedAt: string | null
  isChosen: boolean
}

interface Derivation {
  usesSandbox: boolean
  subscription: { planId: string, status: string, currentPeriodEnd: string, entitlements: string[] } | null
  purchases: Purchase[]
  grants: Grant[]
  plans: string[]
}

const kinds: Record<string, 'good' | 'bad' | 'warn'> = {
  ACTIVE: 'good',
  GRACE: 'warn',
  PENDING: 'warn',
  HOLD: 'bad',
  REVOKED: 'bad'
}

/** What the subscription of a person is derived from, so that support can explain it. */
export function serveSubscriptions (pages: Pages) {
  servePersonPage(pages, {
    path: 'subscription',
    right: 'subscriptions.read',
    title: (texts) => texts.subscriptions.title,
    content: async (visit, { id, reason }) => {
      const found = await visit.find<Derivation>('identity', `/operator/people/${segment(id)}/subscription`, { reason })
      if (!found) return empty(visit.texts.queue.unknown)
      return html`${derivation(visit, found)} ${actions(visit, { id, reason, plans: found.plans })}`
    }
  })
  const page = '/subscription'
  servePersonForm(pages, { page, path: 'subscription/recheck', right: 'subscriptions.read', done: 'rechecked' })
  servePersonForm(pages, { page, path: 'subscription/take', right: 'subscriptions.grant', done: 'taken' })
  servePersonForm(pages, {
    page,
    path: 'subscription/grant',
    right: 'subscriptions.grant',
    done: 'granted',
    bodyOf: (fields) => ({ planId: fields.text('planId'), days: fields.number('days') })
  })
}

function derivation (visit: Visit, { subscription, purchases, grants, usesSandbox }: Derivation) {
  const words = visit.texts.subscriptions
  return html`<div class="card">${
    subscription
      ? facts([
        [words.plan, subscription.planId],
        [words.status, badge(label(words.states, subscription.status), kinds[subscription.status] ?? 'plain')],
        [words.until, time(visit, subscription.currentPeriodEnd)],
        [words.unlocks, subscription.entitlements.join(', ')],
        [words.sandbox, usesSandbox && words.marked]
      ])
      : empty(words.never)
  }</div>
    <div class="columns even">
      <section><h2>${words.purchases}</h2>${
    rows(visit, purchases, words.noPurchases, (each) => purchaseRow(visit, each))
  }</section>
      <section><h2>${words.grants}</h2>${rows(visit, grants, words.noGrants, (each) => grantRow(visit, each))}</section>
    </div>`
}

function purchaseRow (visit: Visit, purchase: Purchase) {
  const words = visit.texts.subscriptions
  const notes = [
    purchase.environment === 'SANDBOX' && words.sandbox,
    purchase.isTrial && words.trial,
    purchase.isFamilyShared && words.family,
    purchase.isReplaced && words.replaced,
    purchase.isMoved && words.moved,
    purchase.willRenew && words.renews,
    !purchase.isAcknowledged && words.notAcknowledged,
    purchase.moves > 0 && visit.texts.say('subscriptions.moves', { number: purchase.moves })
  ].filter((note) => note !== false)
  return html`<li><div class="what"><strong>${label(words.stores, purchase.store)}: ${purchase.productId}</strong>
    <p class="meta">${words.said} ${label(words.states, purchase.saidState)} · ${words.answered} ${
    time(visit, purchase.answeredAt)
  }${purchase.asksAt && html` · ${words.asks} ${time(visit, purchase.asksAt)}`}</p>
    <p class="meta">${words.paidUntil} ${time(visit, purchase.periodEnd)} · ${words.countsUntil} ${
    time(visit, purchase.countsUntil)
  }${notes.map((note) => html` · ${note}`)}</p></div>
    <div class="state">${badge(label(words.states, purchase.state), kinds[purchase.state] ?? 'plain')}${
    purchase.isChosen && html` ${badge(words.counts, 'good')}`
  }</div></li>`
}

const grantRow = (visit: Visit, { planId, reason, givenBy, startsAt, endsAt, endedAt, isChosen }: Grant) =>
  html`<li><div class="what"><strong>${planId}</strong>
    <p class="meta">${label(visit.texts.subscriptions.reasons, reason)}${givenBy !== null && html` (${givenBy})`} · ${
    time(visit, startsAt)
  } – ${time(visit, endedAt ?? endsAt)}</p></div>
    <div class="state">${isChosen && badge(visit.texts.subscriptions.counts, 'good')}</div></li>`

function actions (visit: Visit, { id, reason, plans }: { id: string, reason: string, plans: string[] }) {
  const words = visit.texts.subscriptions
  const path = `/people/${segment(id)}/subscription`
  return html`<div class="card">
    <form method="post" action="${path}/recheck"><input type="hidden" name="reason" value="${reason}">
      <button>${words.recheck}</button></form>
    ${
    visit.can('subscriptions.grant') &&
    html`<form method="post" action="${path}/grant" class="row"><input type="hidden" name="reason" value="${reason}">
        <label>${words.plan}<select name="planId">${
      plans.map((plan) => html`<option value="${plan}">${plan}</option>`)
    }</select></label>
        <label>${words.days}<input type="number" name="days" min="1" max="3650" value="30" required></label>
        <button>${words.grant}</button></form>
      <form method="post" action="${path}/take"><input type="hidden" name="reason" value="${reason}">
        <button class="danger" data-confirm="${words.takeConfirm}">${words.take}</button></form>`
  }
  </div>`
}
