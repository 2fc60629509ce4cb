import { textsOf } from '@tandem/brand-kit'
import type { Erasure } from './queries.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const LAST_SWEEP_DAYS = 15

/** What no deletion removes at once. */
const KEPT = ['reports', 'decisions', 'digests', 'username'] as const

/** A deletion as its owner sees it, in their language. */
export function describeErasure (erasure: Erasure, language: string) {
  const texts = textsOf(language)
  const { id, status, providers, hasSubscription, manageUrl, erasedAt, closedAt, confirmations } = erasure
  return {
    id,
    status,
    requestedAt: erasure.requestedAt.toISOString(),
    eraseAt: erasure.eraseAt.toISOString(),
    keeps: KEPT.map((each) => ({
      what: texts.format(`deletion.keeps.${each}.what`),
      why: texts.format(`deletion.keeps.${each}.why`),
      until: texts.format(`deletion.keeps.${each}.until`)
    })),
    providers,
    hasSubscription,
    manageUrl,
    ...(erasedAt && {
      services: Object.fromEntries(confirmations.map(({ service, rows, files, kept, confirmedAt }) => [
        service,
        { rows, files, kept, confirmedAt: confirmedAt.toISOString() }
      ])),
      inTransitUntil: closedAt ? null : new Date(erasedAt.getTime() + LAST_SWEEP_DAYS * DAY_MS).toISOString()
    })
  }
}
