import type { CallRpc } from '@tandem/bus-kit'
import { Contact, FitMatchOverview } from '@tandem/contracts'
import { dayIn, dayNameOf, DEFAULT_ZONE } from '../calendar.ts'
import { askPerson, keepAnswer } from '../people/actions.ts'
import { findPerson } from '../people/queries.ts'
import { findWorkout } from '../programs/queries.ts'
import { levelOf, xpToNextLevel } from '../progress/rules.ts'
import type { Db } from '../tables.ts'
import { readStats } from '../stats/queries.ts'

/** What this service itself shows of a person's today. */
async function readOwn (db: Db, accountId: string, today: Temporal.PlainDate) {
  const [{ stats, water }, workout] = await Promise.all([readStats(db, accountId, today), findWorkout(db, accountId, today.dayOfWeek)])
  return { stats, today: { dayOfWeek: dayNameOf(today), workout: workout ?? null, water } }
}

// The contract's own forms of knowing nothing.
const noFitMatch = { hasProfile: false, status: null, discoverTutorialSeen: false, matches: [] }

interface Asked { db: Db, callRpc: CallRpc, now: () => Date }

/**
 * The home screen. The others are asked while the own part is read in the time zone last heard of; should profile know another by now,
 * or another weight, it is read once more. A part whose owner is away is empty or null.
 */
export async function readHome ({ db, callRpc, now }: Asked, accountId: string) {
  const at = now()
  const kept = await findPerson(db, accountId)
  const keptZone = kept?.timezone ?? DEFAULT_ZONE
  const keptToday = dayIn(keptZone, at)
  const [person, fitmatch, contact, read] = await Promise.all([
    askPerson(callRpc, accountId),
    callRpc(FitMatchOverview, { accountId }).catch(() => noFitMatch),
    callRpc(Contact, { accountId }).catch(() => null),
    readOwn(db, accountId, keptToday)
  ])

  const zone = person?.profile.timezone ?? keptZone
  const today = dayIn(zone, at)
  const hasNewWeight = person ? await keepAnswer(db, accountId, { kept, person, asked: at }) : false
  const own = today.equals(keptToday) && !hasNewWeight ? read : await readOwn(db, accountId, today)

  const { hasProfile, status, discoverTutorialSeen, matches } = fitmatch
  const { totalXp, streak, longestStreak } = own.stats
  return {
    user: {
      id: accountId,
      name: person?.name ?? kept?.name ?? contact?.name ?? null,
      image: person ? person.image : kept?.image ?? null,
      email: contact?.email ?? null,
      level: levelOf(totalXp),
      totalXp,
      xpToNextLevel: xpToNextLevel(totalXp),
      streak,
      longestStreak
    },
    today: own.today,
    stats: own.stats,
    fitmatch: { hasProfile, status, discoverTutorialSeen },
    matches: hasProfile ? matches : [],
    upcomingActivities: [],
    profileCompletion: person === undefined ? null : person?.completion ?? 0
  }
}
