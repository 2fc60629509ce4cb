import type { findErasure } from './queries.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const LAST_SWEEP_DAYS = 15

/** What no deletion removes at once, for its owner to read. */
const keeps = [
  {
    what: 'Reports about you, and what they quote',
    why: 'They are evidence, also against a new account.',
    until: '180 days after the last decision'
  },
  {
    what: "Operators' decisions about you",
    why: 'Decisions can be questioned.',
    until: '24 months after the decision'
  },
  {
    what: 'If you are banned or suspended: digests of what you signed in with, from which nobody can read it',
    why: 'Neither ends with a deletion.',
    until: '36 months for a ban, 180 days for a suspension'
  },
  {
    what: 'Your username, without you',
    why: 'No stranger inherits your mentions.',
    until: '90 days'
  }
]

/** A deletion as its owner sees it. */
export function describeErasure (erasure: NonNullable<Awaited<ReturnType<typeof findErasure>>>) {
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
    keeps,
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
