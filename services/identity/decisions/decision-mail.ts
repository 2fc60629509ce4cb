import { textsOf } from '@tandem/brand-kit'
import { plainQuote, renderMail } from '@tandem/mail-kit'
import type { DecidedAction, DecisionReason } from '../tables.ts'

interface DecisionMail {
  locale: string
  actions: DecidedAction[]
  reason: DecisionReason
  /** The operator's own words; empty for an automated decision. */
  statement: string
  excerpt: string | null
  isAutomated: boolean
  url: string
}

/** Writes what a person reads about a decision of the operators. */
export function renderDecisionMail ({ locale, actions, reason, statement, excerpt, isAutomated, url }: DecisionMail) {
  const texts = textsOf(locale)
  const describe = ({ type, scope, until }: DecidedAction) =>
    texts.format(`mails.decision.actions.${type}`, {
      scope: scope ?? 'ALL',
      hasEnd: until !== null,
      until: until?.slice(0, 16).replace('T', ' ')
    })
  return renderMail({
    kind: 'decision',
    locale,
    params: {
      actions: actions.map(describe).join(' '),
      reason,
      statement,
      hasStatement: statement !== '',
      excerpt: excerpt && plainQuote(excerpt),
      hasExcerpt: Boolean(excerpt),
      isAutomated
    },
    url
  })
}
