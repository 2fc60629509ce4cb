export const badges = ['PHOTO_VERIFIED', 'CONSISTENT', 'PR_ACHIEVER', 'VETERAN', 'EARLY_ADOPTER'] as const
export type Badge = typeof badges[number]

export const requirements: Record<Badge, string> = {
  PHOTO_VERIFIED: 'Verify your photos with a selfie',
  CONSISTENT: 'Work out 4 weeks in a row',
  PR_ACHIEVER: 'Set 10 personal records',
  VETERAN: 'Be a member for a year',
  EARLY_ADOPTER: 'Be among the first 1000 users'
}

interface BadgeInputs {
  isVerified: boolean
  weekStreak: number
  personalRecords: number
  membership: { since: string, number: number } | null
}

const percent = (done: number, needed: number) => Math.max(0, Math.min(100, Math.floor(100 * done / needed)))

/**
 * Progress towards each badge in percent. 100 means earned: CONSISTENT 4 weeks in a row, PR_ACHIEVER 10 records,
 * VETERAN the first year, EARLY_ADOPTER a member number up to 1000, PHOTO_VERIFIED an approval. Earned badges stay,
 * except PHOTO_VERIFIED, which ends with the approval.
 */
export function measureProgress (
  { isVerified, weekStreak, personalRecords, membership }: BadgeInputs
): Record<Badge, number> {
  return {
    PHOTO_VERIFIED: isVerified ? 100 : 0,
    CONSISTENT: percent(weekStreak, 4),
    PR_ACHIEVER: percent(personalRecords, 10),
    VETERAN: membership ? percentOfFirstYear(membership.since) : 0,
    EARLY_ADOPTER: membership && membership.number <= 1000 ? 100 : 0
  }
}

/** When a member has been one for a year. */
export const endOfFirstYear = (since: string) =>
  new Date(Temporal.Instant.from(since).toZonedDateTimeISO('UTC').add({ years: 1 }).epochMilliseconds)

function percentOfFirstYear (since: string) {
  const begin = Temporal.Instant.from(since).toZonedDateTimeISO('UTC')
  const now = Temporal.Now.zonedDateTimeISO('UTC')
  const end = endOfFirstYear(since).getTime()
  return percent(now.epochMilliseconds - begin.epochMilliseconds, end - begin.epochMilliseconds)
}
