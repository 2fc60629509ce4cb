import { on } from '@tandem/bus-kit'
import { BookingChanged } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'

/** Copies a booking, unless a later version is stored: its events can arrive twice, late and out of order. */
export const onBookingChanged = ({ db }: Deps) =>
  on(BookingChanged, async ({ data }) => {
    const { id, accountId, bookingId, title, startsAt, endsAt, locationName, isCancelled, version } = data
    await upsertVersioned(db, 'bookings', [{
      id,
      account_id: accountId,
      booking_id: bookingId,
      title,
      starts_at: startsAt,
      ends_at: endsAt,
      location_name: locationName,
      is_cancelled: isCancelled,
      version
    }], { key: 'id', version: 'version' })
  })
