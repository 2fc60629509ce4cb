import { sql } from 'kysely'
import { dayIn } from '@tandem/account-kit'
import type { Db } from '../tables.ts'

const DAYS_AHEAD = 14
const MAX_BOOKINGS = 10

/** A booking among what is next, in the form of an activity. */
export interface UpcomingBooking {
  id: string
  bookingId: string
  title: string
  sport: string
  date: string
  startTime: string
  endTime: string
  locationName: string
}

/** The next bookings of the coming 14 days, or that have begun. */
export async function listUpcomingBookings (db: Db, accountId: string, at: Date) {
  return await db.selectFrom('bookings')
    .where('account_id', '=', accountId)
    .where('is_cancelled', '=', false)
    .where('ends_at', '>', at)
    .where('starts_at', '<', sql<Date>`${at}::timestamptz + make_interval(days => ${DAYS_AHEAD})`)
    .select([
      'id',
      'booking_id as bookingId',
      'title',
      'starts_at as startsAt',
      'ends_at as endsAt',
      'location_name as locationName'
    ])
    .orderBy('starts_at').orderBy('id').limit(MAX_BOOKINGS).execute()
}

type Booking = Awaited<ReturnType<typeof listUpcomingBookings>>[number]

/** A booking as an activity, with its times in `timezone`. */
export const toActivity = (
  { startsAt, endsAt, locationName, ...booking }: Booking,
  timezone: string
): UpcomingBooking => ({
  ...booking,
  // No sport of the app's list: other systems have their own.
  sport: '',
  date: dayIn(timezone, startsAt).toString(),
  startTime: timeIn(timezone, startsAt),
  endTime: timeIn(timezone, endsAt),
  locationName: locationName ?? ''
})

const timeIn = (timezone: string, at: Date) =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone).toPlainTime()
    .toString({ smallestUnit: 'minute' })
