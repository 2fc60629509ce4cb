import { html, type Html } from '../html.ts'
import type { Form } from '../forms.ts'
import type { Visit } from '../visit.ts'
import { actionTexts, badge, label, options, time } from './parts.ts'

export const decisionReasons = [
  'SPAM',
  'HARASSMENT',
  'HATE',
  'SEXUAL',
  'VIOLENCE',
  'SELF_HARM',
  'CHILD_SAFETY',
  'IMPERSONATION',
  'ILLEGAL',
  'UNDERAGE',
  'OTHER'
] as const

export interface Decision {
  id: string
  caseService: string | null
  caseId: string | null
  caseVersion: number | null
  actions: { type: string, scope?: string | null, until?: string | null }[]
  outcome: string
  reason: string
  statement: string
  note: string | null
  isAutomated: boolean
  staffId: string | null
  madeAt: string
  awaits: string[]
}

/** The reasons of reports that have another name in a decision. */
const reasonOfReport: Record<string, string> = {
  FAKE_PROFILE: 'IMPERSONATION',
  INAPPROPRIATE_CONTENT: 'SEXUAL',
  OFFLINE_BEHAVIOR: 'HARASSMENT'
}

/** The reason that most reports give. */
export function mainReason (reports: { reason: string }[]) {
  const counts = Map.groupBy(reports, ({ reason }) => reason)
  const [reason = 'OTHER'] = [...counts].sort(([, a], [, b]) => b.length - a.length)[0] ?? []
  return reasonOfReport[reason] ?? reason
}

const days = [1, 3, 7, 14, 30, 90, 365]
const SUPPORTED_BY_MODERATORS_DAYS = 30

const canBeHidden = ['POST', 'COMMENT', 'STORY']

/** Hiding what was reported, if it is something that can be hidden. */
export const contentAction = ({ texts }: Visit, targetType: string | null) =>
  targetType !== null && canBeHidden.includes(targetType) &&
  html`<label><input type="checkbox" name="action" value="HIDE_CONTENT" checked> ${texts.actions.HIDE_CONTENT}</label>`

/** The actions against a person, and the statement to them. @param extra the actions on what was reported */
export function decisionFields (visit: Visit, { reason, extra }: { reason: string, extra?: Html | false }): Html {
  const { texts, can } = visit
  const words = texts.decision
  const shownDays = days.filter((each) => each <= SUPPORTED_BY_MODERATORS_DAYS || can('restrictions.long'))
  return html`
    ${extra}
    <label><input type="checkbox" name="action" value="WARN"> ${texts.actions.WARN}</label>
    <label><input type="checkbox" name="action" value="RESTRICT"> ${texts.actions.RESTRICT}</label>
    <div class="row indent">
      <label>${words.scope}<select name="scope">${
    options(texts.scopes, ['POSTING', 'FITMATCH', 'ALL'])
  }</select></label>
      <label>${words.days}<select name="days">${
    shownDays.map((each) =>
      html`<option value="${each}"${each === 7 && html` selected`}>${
        texts.say('decision.dayCount', { number: each })
      }</option>`
    )
  }</select></label>
    </div>
    ${
    can('bans.make') &&
    html`<label><input type="checkbox" name="action" value="BAN"> ${texts.actions.BAN}</label>`
  }
    <label>${words.reason}<select name="reason">${options(texts.reasons, decisionReasons, reason)}</select></label>
    <label>${words.statement}<textarea name="statement" rows="4" maxlength="2000" data-key="s" aria-describedby="statement-hint"></textarea></label>
    <p class="meta" id="statement-hint">${words.statementHint}</p>
    <details><summary>${words.note}</summary><label>${words.noteHint}<textarea name="note" rows="2" maxlength="2000"></textarea></label></details>`
}

/** The decision that a form describes. */
export function readDecision (form: Form) {
  const isDismissed = form.text('verdict') === 'DISMISS'
  const actions = isDismissed
    ? [{ type: 'DISMISS' }]
    : form.list('action').map((type) => ({
      type,
      ...(type === 'RESTRICT' && { scope: form.text('scope'), days: form.number('days') }),
      ...(type === 'LIFT' && { scope: form.text('lift') }),
      ...(type === 'REMOVE_PHOTO' && { photoId: form.text('photoId') })
    }))
  const note = form.text('note')
  return {
    actions,
    reason: form.text('reason'),
    statement: isDismissed ? '' : form.text('statement'),
    ...(note && { note })
  }
}

/** A decision that was made. */
export function decisionCard (visit: Visit, decision: Decision): Html {
  const { texts, staff } = visit
  const words = texts.decision
  return html`<article class="card">
    <div class="row spread">${actionTexts(visit, decision.actions)}<span class="meta">${
    time(visit, decision.madeAt)
  }</span></div>
    <p>${label(texts.reasons, decision.reason)}${
    decision.caseService && decision.caseId &&
    html` · <a href="/cases/${decision.caseService}/${decision.caseId}">${words.openCase}</a>`
  }</p>
    ${decision.statement && html`<blockquote>${decision.statement}</blockquote>`}
    ${decision.note && html`<p class="meta">${words.note}: ${decision.note}</p>`}
    <p class="meta">${
    decision.isAutomated ? words.automated : decision.staffId === staff.id ? words.byYou : words.byOther
  } ${
    decision.awaits.length > 0 && badge(texts.say('decision.awaits', { services: decision.awaits.join(', ') }), 'warn')
  }</p>
  </article>`
}
