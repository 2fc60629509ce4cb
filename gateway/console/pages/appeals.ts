import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { contentAction, decisionFields, readDecision } from './decisions.ts'
import { actionTexts, badge, cards, due, label, segment, time } from './parts.ts'
import { pathOfPerson } from './people.ts'

interface Appeal {
  id: string
  decisionId: string
  accountId: string
  /** Somebody who reported it appeals that it was dismissed. */
  isByReporter: boolean
  text: string
  dueAt: string
  createdAt: string
  caseService: string | null
  caseId: string | null
  actions: { type: string, scope?: string | null, until?: string | null }[]
  reason: string
  statement: string
  subjectType: string | null
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
        ${cards(visit, found?.appeals, texts.appeals.none, (each) => appealCard(visit, each))}`
    }
  })

  form('/appeals/:id', 'appeals.decide', async (visit, fields) => {
    const outcome = fields.text('outcome')
    await visit.send('identity', 'POST', `/operator/appeals/${segment(visit.params['id'])}`, {
      // To grant the appeal of a reporter is to decide about what they reported.
      outcome: outcome === 'GRANTED' ? 'REVERSED' : outcome,
      statement: fields.text('answer'),
      ...(outcome === 'GRANTED' && { decision: readDecision(fields) })
    })
    return redirectAfter('/appeals', 'answered')
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
        ${appeal.statement && html`<blockquote>${appeal.statement}</blockquote>`}
        ${
    appeal.caseService && appeal.caseId &&
    html`<p><a href="/cases/${appeal.caseService}/${appeal.caseId}">${texts.decision.openCase}</a></p>`
  }
        ${appeal.decidedBy === staff.id && html`<p>${badge(words.byYou, 'warn')}</p>`}
      </section>
      <section><h2>${words.appeal}</h2>${
    appeal.isByReporter && html`<p>${badge(words.byReporter)}</p>`
  }<blockquote>${appeal.text}</blockquote><p class="meta">${time(visit, appeal.createdAt)}</p></section>
    </div>
    <form method="post" action="/appeals/${segment(appeal.id)}">
      <label>${words.answer}<textarea name="answer" rows="3" maxlength="2000" required></textarea></label>
      <p class="meta">${words.answerHint}</p>
      ${appeal.isByReporter ? grantFields(visit, appeal) : reverseButtons(words)}
    </form>
  </article>`
}

const reverseButtons = (words: Visit['texts']['appeals']) =>
  html`<p class="row"><button name="outcome" value="UPHELD">${words.uphold}</button>
    <button name="outcome" value="REVERSED" class="primary" data-confirm="${words.reverseConfirm}">${words.reverse}</button></p>`

/** What is decided after all, if the reporter is right. */
const grantFields = (visit: Visit, { reason, subjectType }: Appeal) => {
  const words = visit.texts.appeals
  return html`<p><button name="outcome" value="UPHELD">${words.uphold}</button></p>
    <fieldset><legend>${words.instead}</legend>
      ${decisionFields(visit, { reason, extra: contentAction(visit, subjectType) })}
      <p><button name="outcome" value="GRANTED" class="primary" data-confirm="${words.grantConfirm}">${words.grant}</button></p>
    </fieldset>`
}
