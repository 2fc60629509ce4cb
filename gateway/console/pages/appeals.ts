import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectTo, type Pages } from '../visits.ts'
import { actionTexts, badge, due, empty, label, segment, time } from './parts.ts'
import { pathOfPerson } from './people.ts'

interface Appeal {
  id: string
  decisionId: string
  accountId: string
  text: string
  dueAt: string
  createdAt: string
  actions: { type: string, scope?: string | null, until?: string | null }[]
  reason: string
  statement: string
  excerpt: string | null
  decidedBy: string | null
}

/** The open appeals: the decision on one side, what the person says on the other, and the answer below. */
export function serveAppeals ({ page, form }: Pages) {
  page('/appeals', 'appeals.decide', async (visit) => {
    const { texts } = visit
    const found = await visit.find<{ appeals: Appeal[] }>('identity', '/operator/appeals')
    return {
      title: texts.pages.appeals,
      content: html`<h1>${texts.pages.appeals}</h1>
        ${
        found?.appeals.length
          ? found.appeals.map((each) => appealCard(visit, each))
          : empty(found ? texts.appeals.none : texts.queue.unknown)
      }`
    }
  })

  form('/appeals/:id', 'appeals.decide', async (visit, fields) => {
    await visit.send('identity', 'POST', `/operator/appeals/${segment(visit.params['id'])}`, {
      outcome: fields.text('outcome'),
      statement: fields.text('statement')
    })
    return redirectTo('/appeals?done=answered')
  })
}

function appealCard (visit: Visit, appeal: Appeal) {
  const { texts, staff } = visit
  const words = texts.appeals
  return html`<article class="card" data-row>
    <div class="row spread"><p>${due(visit, appeal.dueAt)}</p>
      <p><a href="${
    pathOfPerson(appeal.accountId, `${texts.people.appealReason} ${appeal.id}`)
  }">${texts.people.openPerson}</a></p></div>
    <div class="columns even">
      <section><h2>${words.decision}</h2>${actionTexts(visit, appeal.actions)}
        <p>${label(texts.reasons, appeal.reason)}</p>
        ${appeal.excerpt && html`<blockquote class="reported">${appeal.excerpt}</blockquote>`}
        <blockquote>${appeal.statement}</blockquote>
        ${appeal.decidedBy === staff.id && html`<p>${badge(words.byYou, 'warn')}</p>`}
      </section>
      <section><h2>${words.appeal}</h2><blockquote>${appeal.text}</blockquote><p class="meta">${
    time(visit, appeal.createdAt)
  }</p></section>
    </div>
    <form method="post" action="/appeals/${segment(appeal.id)}">
      <label>${words.answer}<textarea name="statement" rows="3" maxlength="2000" required></textarea></label>
      <p class="meta">${words.answerHint}</p>
      <p class="row"><button name="outcome" value="UPHELD">${words.uphold}</button>
        <button name="outcome" value="REVERSED" class="primary" data-confirm="${words.reverseConfirm}">${words.reverse}</button></p>
    </form>
  </article>`
}
