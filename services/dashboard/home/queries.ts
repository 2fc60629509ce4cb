import { isFeatureOn } from '@tandem/brand-kit'
import { Contact, DEFAULT_TIMEZONE, FitMatchOverview } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { dayIn, readTimezone } from '@tandem/account-kit'
import { dayNameOf } from '../calendar.ts'
import { listUpcomingBookings, toActivity, type UpcomingBooking } from '../bookings/queries.ts'
import { fetchPerson, updateCopy } from '../people/actions.ts'
import { findPerson } from '../people/queries.ts'
import { exerciseNameIn } from '../exercises/names.ts'
import { findWorkout } from '../programs/queries.ts'
import { levelOf, xpToNextLevel } from '../progress/rules.ts'
import type { Db } from '../tables.ts'
import { readStats } from '../stats/queries.ts'

/** Whose home screen it is, and the language of the names of exercises. */
interface Reader {
  accountId: string
  language: string
}

/** The part of the home screen that this service owns. */
async function readOwnData (db: Db, { accountId, language }: Reader, today: Temporal.PlainDate) {
  const [{ stats, today: measured }, found] = await Promise.all([
    readStats(db, accountId, today),
    isFeatureOn('dashboardPrograms') ? findWorkout(db, accountId, today) : undefined
  ])
  const workout = found && {
    ...found,
    exercises: found.exercises.map((exercise) => ({ ...exercise, name: exerciseNameIn(language, exercise) }))
  }
  return { stats, today: { dayOfWeek: dayNameOf(today.dayOfWeek), workout: workout ?? null, ...measured } }
}

// The value that the contract defines for a person without a FitMatch profile.
const noFitMatch = {
  hasProfile: false,
  status: null,
  discoverTutorialSeen: false,
  matches: [],
  upcomingActivities: []
}

type HomeDeps = Pick<Deps, 'db' | 'callRpc' | 'mediaUrls' | 'now'>

/**
 * The home screen. The RPCs run while the own data is read with the time zone of the local copy; if profile returns
 * another day or weight, the own data is read again. The part of an unavailable service is empty or null.
 */
export async function readHome ({ db, callRpc, mediaUrls, now }: HomeDeps, reader: Reader) {
  const { accountId } = reader
  const at = now()
  const copy = await findPerson(db, accountId)
  const copyZone = copy?.timezone ?? DEFAULT_TIMEZONE
  const copyToday = dayIn(copyZone, at)
  const [person, fitmatch, contact, firstRead, bookings] = await Promise.all([
    fetchPerson(callRpc, accountId),
    isFeatureOn('fitmatch') ? callRpc(FitMatchOverview, { accountId }).catch(() => noFitMatch) : noFitMatch,
    callRpc(Contact, { accountId }).catch(() => null),
    readOwnData(db, reader, copyToday),
    listUpcomingBookings(db, accountId, at)
  ])

  const zone = readTimezone(person?.profile.timezone ?? copyZone)
  const today = dayIn(zone, at)
  const hasNewWeight = person ? await updateCopy({ db, mediaUrls }, accountId, { copy, person, fetchedAt: at }) : false
  const own = today.equals(copyToday) && !hasNewWeight ? firstRead : await readOwnData(db, reader, today)

  const { hasProfile, status, discoverTutorialSeen, matches } = fitmatch
  const activities = isFeatureOn('activities') ? fitmatch.upcomingActivities ?? [] : []
  const { totalXp, streak, longestStreak } = own.stats
  return {
    user: {
      id: accountId,
      name: person?.name ?? copy?.name ?? contact?.name ?? null,
      image: person ? person.image : mediaUrls.urlOf(copy?.image ?? null),
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
    upcomingActivities: merge(activities, bookings.map((booking) => toActivity(booking, zone))),
    profileCompletion: person === undefined ? null : person?.completion ?? 0
  }
}

const MAX_UPCOMING = 10

type Activity = Omit<UpcomingBooking, 'bookingId'>

/** The next ten of both, the first one first. */
function merge (activities: Activity[], bookings: UpcomingBooking[]): (Activity | UpcomingBooking)[] {
  const startOf = ({ date, startTime }: Activity) => `${date} ${startTime}`
  return [...activities, ...bookings]
    .sort((one, other) => startOf(one).localeCompare(startOf(other)))
    .slice(0, MAX_UPCOMING)
}
