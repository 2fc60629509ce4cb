import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Made, type Pages } from '../visits.ts'
import { badge, cards, facts, label, reasonField, rows, segment, time } from './parts.ts'
import { pathOfPerson } from './people.ts'

interface Issue {
  at: string
  email: string
  description: string
}

interface Erasure {
  id: string
  accountId: string
  status: string
  cause: string
  eraseAt: string
  holdReason: string | null
}

interface Export {
  id: string
  accountId: string
  status: string
  progress: number
  requestedAt: string
}

export function serveSupport ({ page, form }: Pages) {
  page('/issues', 'issues.read', async (visit) => {
    const { texts } = visit
    const found = await visit.find<{ issues: Issue[] }>('identity', '/operator/issues')
    return {
      title: texts.pages.issues,
      content: html`<h1>${texts.pages.issues}</h1><p class="meta">${texts.issues.text}</p>${
        cards(visit, found?.issues, texts.issues.none, ({ at, email, description }) =>
          html`<article class="card"><div class="row spread"><strong>${email}</strong><span class="meta">${
            time(visit, at)
          }</span></div>
            <blockquote>${description}</blockquote></article>`)
      }`
    }
  })

  page('/erasures', 'erasures.read', async (visit) => {
    const { texts } = visit
    const [erasures, exports] = await Promise.all([
      visit.find<{ erasures: Erasure[] }>('identity', '/operator/erasures'),
      // An older service has no such route.
      visit.find<{ exports: Export[] }>('identity', '/operator/exports').catch(() => undefined)
    ])
    return {
      title: texts.pages.erasures,
      content: html`<h1>${texts.pages.erasures}</h1><p class="meta">${texts.erasures.text}</p>
        ${cards(visit, erasures?.erasures, texts.erasures.none, (each) => erasureCard(visit, each))}
        ${exports && html`<h2>${texts.erasures.exports}</h2>${exportList(visit, exports.exports)}`}`
    }
  })

  form('/erasures/:id/hold', 'holds.change', async (visit, fields) => {
    const made = await visit.send<Made>('identity', 'POST', `/operator/erasures/${segment(visit.params['id'])}/hold`, {
      days: fields.number('days'),
      reason: fields.text('reason')
    })
    return redirectAfter('/erasures', 'held', made)
  })

  form('/erasures/:id/release', 'holds.change', async (visit, fields) => {
    const path = `/operator/erasures/${segment(visit.params['id'])}/release`
    const made = await visit.send<Made>('identity', 'POST', path, { reason: fields.text('reason') })
    return redirectAfter('/erasures', 'released', made)
  })

  form('/exports/:id/cancel', 'erasures.change', async (visit, fields) => {
    const path = `/operator/exports/${segment(visit.params['id'])}/cancel`
    await visit.send('identity', 'POST', path, { reason: fields.text('reason') })
    return redirectAfter('/erasures', 'canceled')
  })
}

const canBeHeld = ['SCHEDULED', 'HELD']

function erasureCard (visit: Visit, { id, accountId, status, cause, eraseAt, holdReason }: Erasure) {
  const { texts, can } = visit
  const words = texts.erasures
  const path = `/erasures/${segment(id)}`
  return html`<article class="card">
    <div class="row spread"><p>${badge(label(words.statuses, status), status === 'HELD' ? 'warn' : 'plain')}</p>
      <a href="${pathOfPerson(accountId, `${texts.people.erasureReason} ${id}`)}">${texts.people.openPerson}</a></div>
    ${
    facts([[words.cause, label(words.causes, cause)], [words.eraseAt, time(visit, eraseAt)], [
      words.holdReason,
      holdReason
    ]])
  }
    ${
    can('holds.change') && canBeHeld.includes(status) &&
    html`<details><summary>${words.hold}</summary>
        <form method="post" action="${path}/hold" class="row">
          <label>${words.days}<input type="number" name="days" min="1" max="365" value="30" required></label>
          ${reasonField(texts)}
          <button>${words.hold}</button></form></details>`
  }
    ${
    can('holds.change') && status === 'HELD' &&
    html`<form method="post" action="${path}/release" class="row">
        ${reasonField(texts)}
        <button>${words.release}</button></form>`
  }
  </article>`
}

function exportList (visit: Visit, exports: Export[]) {
  const { texts, can } = visit
  return rows(
    visit,
    exports,
    texts.erasures.noExports,
    ({ id, accountId, status, progress, requestedAt }) =>
      html`<li><div class="what"><a href="${
        pathOfPerson(accountId, `${texts.people.exportReason} ${id}`)
      }">${texts.people.openPerson}</a><p class="meta">${time(visit, requestedAt)} · ${progress} %</p>
        ${
        can('erasures.change') &&
        html`<details><summary>${texts.erasures.cancel}</summary><form method="post" action="${path(id)}" class="row">
            ${reasonField(texts)}
            <button class="danger">${texts.erasures.cancel}</button></form></details>`
      }</div>
        <div class="state">${badge(label(texts.statuses, status.toLowerCase()))}</div></li>`
  )
}

const path = (exportId: string) => `/exports/${segment(exportId)}/cancel`
