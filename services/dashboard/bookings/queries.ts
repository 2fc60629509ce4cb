import { sql } from 'kysely'
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

/** The next bookings of the coming 14 days, or that have begun, with their times in `timezone`. */
export async function listUpcomingBookings (
  db: Db,
  accountId: string,
  { at, timezone }: { at: Date, timezone: string }
): Promise<UpcomingBooking[]> {
  const rows = await db.selectFrom('bookings')
    .where('account_id', '=', accountId)
    .where('is_cancelled', '=', false)
    .where('ends_at', '>', at)
    .where('starts_at', '<', sql<Date>`${at}::timestamptz + make_interval(days => ${DAYS_AHEAD})`)
    .select(['id', 'booking_id as bookingId', 'title', 'starts_at', 'ends_at', 'location_name'])
    .orderBy('starts_at').orderBy('id').limit(MAX_BOOKINGS).execute()
  return rows.map(({ starts_at: startsAt, ends_at: endsAt, location_name: locationName, ...booking }) => ({
    ...booking,
    // No sport of the app's list: other systems have their own.
    sport: '',
    date: inZone(startsAt, timezone).toPlainDate().toString(),
    startTime: timeOf(startsAt, timezone),
    endTime: timeOf(endsAt, timezone),
    locationName: locationName ?? ''
  }))
}

const inZone = (time: Date, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(timezone)

const timeOf = (time: Date, timezone: string) =>
  inZone(time, timezone).toPlainTime().toString({ smallestUnit: 'minute' })
