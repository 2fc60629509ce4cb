import { textsOf } from '@tandem/brand-kit'
import type { findErasure } from './queries.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const LAST_SWEEP_DAYS = 15

/** What no deletion removes at once. */
const KEPT = ['reports', 'decisions', 'digests', 'username'] as const

/** A deletion as its owner sees it, in their language. */
export function describeErasure (erasure: NonNullable<Awaited<ReturnType<typeof findErasure>>>, language: string) {
  const texts = textsOf(language)
  const {
    id,
    status,
    requested_at,
    erase_at,
    erased_at,
    closed_at,
    providers,
    has_subscription,
    manage_url,
    confirmations
  } = erasure
  return {
    id,
    status,
    requestedAt: requested_at.toISOString(),
    eraseAt: erase_at.toISOString(),
    keeps: KEPT.map((each) => ({
      what: texts.format(`deletion.keeps.${each}.what`),
      why: texts.format(`deletion.keeps.${each}.why`),
      until: texts.format(`deletion.keeps.${each}.until`)
    })),
    providers,
    hasSubscription: has_subscription,
    manageUrl: manage_url,
    ...(erased_at && {
      services: Object.fromEntries(confirmations.map(({ service, rows, files, kept, confirmedAt }) => [
        service,
        { rows, files, kept, confirmedAt: confirmedAt.toISOString() }
      ])),
      inTransitUntil: closed_at ? null : new Date(erased_at.getTime() + LAST_SWEEP_DAYS * DAY_MS).toISOString()
    })
  }
}
