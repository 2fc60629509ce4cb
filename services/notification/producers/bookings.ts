import { publish } from '@tandem/bus-kit'
import { BookingChanged, type ProducerEventData } from '@tandem/contracts'
import { sql, type Selectable } from 'kysely'
import type { Tables, Trx } from '../tables.ts'

type Booking = Selectable<Tables['bookings']>

/** An event about a booking of an account. */
export interface BookingEvent {
  producerId: string
  accountId: string
  occurredAt: Date
}
export interface Confirmation extends BookingEvent {
  data: Omit<ProducerEventData<'booking.confirmed'>, 'accountId' | 'accountToken'>
}
export interface Cancellation extends BookingEvent {
  data: { bookingId: string }
}

const keyOf = ({ producerId, accountId, data: { bookingId } }: Omit<Cancellation, 'occurredAt'>) =>
  `${producerId} ${accountId} ${bookingId}`

/** Ends bookings for good. One that is not confirmed yet is ended too. */
export async function cancelBookings (trx: Trx, cancellations: Cancellation[]) {
  const rows = [...new Map(cancellations.map((each) => [keyOf(each), each])).values()].map((each) => ({
    ...columnsOf(each),
    is_cancelled: true
  }))
  if (rows.length === 0) return
  const { rows: cancelled } = await sql<Booking>`
    insert into bookings as stored (producer_id, booking_id, account_id, is_cancelled, occurred_at)
    select producer_id, booking_id, account_id, is_cancelled, occurred_at
    from json_populate_recordset(null::bookings, ${JSON.stringify(rows)})
    on conflict (producer_id, booking_id, account_id) do update set
      is_cancelled = true, occurred_at = excluded.occurred_at, changed_at = now(), version = stored.version + 1
      where not stored.is_cancelled
    returning *`.execute(trx)
  await publishChanges(trx, cancelled)
}

/**
 * Stores bookings as their latest events confirm them. Cancelled ones stay so.
 * @returns the events that changed something, and those of them that moved the booking to another time
 */
export async function confirmBookings<Event extends Confirmation> (trx: Trx, confirmations: Event[]) {
  const latest = new Map<string, Event>()
  for (const each of confirmations) {
    const known = latest.get(keyOf(each))
    if (!known || known.occurredAt < each.occurredAt) latest.set(keyOf(each), each)
  }
  if (latest.size === 0) return { changed: [], moved: [] }
  const rows = [...latest.values()].map((each) => ({
    ...columnsOf(each),
    title: each.data.title,
    starts_at: each.data.startsAt,
    ends_at: each.data.endsAt,
    location_name: each.data.locationName ?? null
  }))
  const { rows: confirmed } = await sql<Booking & { isMoved: boolean }>`
    insert into bookings as stored (
      producer_id, booking_id, account_id, title, starts_at, ends_at, location_name, occurred_at
    )
    select producer_id, booking_id, account_id, title, starts_at, ends_at, location_name, occurred_at
    from json_populate_recordset(null::bookings, ${JSON.stringify(rows)})
    on conflict (producer_id, booking_id, account_id) do update set
      title = excluded.title, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
      location_name = excluded.location_name, occurred_at = excluded.occurred_at, changed_at = now(),
      version = stored.version + 1
      where not stored.is_cancelled and stored.occurred_at < excluded.occurred_at
    returning new.*, coalesce(old.starts_at <> new.starts_at, false) as "isMoved"`.execute(trx)
  await publishChanges(trx, confirmed)
  const eventsOf = (bookings: Booking[]) =>
    bookings.map(({ producer_id: producerId, account_id: accountId, booking_id: bookingId }) =>
      latest.get(keyOf({ producerId, accountId, data: { bookingId } }))!
    )
  return { changed: eventsOf(confirmed), moved: eventsOf(confirmed.filter(({ isMoved }) => isMoved)) }
}

/** The ids of the reminders whose booking is cancelled, or was moved to another time by a later event. */
export async function findOutdated (trx: Trx, reminders: (Confirmation & { id: string })[]): Promise<Set<string>> {
  if (reminders.length === 0) return new Set()
  const rows = reminders.map((each) => ({ ...columnsOf(each), id: each.id, starts_at: each.data.startsAt }))
  const { rows: outdated } = await sql<{ id: string }>`
    select reminder.id
    from bookings join json_populate_recordset(null::bookings, ${JSON.stringify(rows)}) reminder
      on (bookings.producer_id, bookings.booking_id, bookings.account_id) =
        (reminder.producer_id, reminder.booking_id, reminder.account_id)
    where bookings.is_cancelled
      or bookings.occurred_at > reminder.occurred_at and bookings.starts_at <> reminder.starts_at`.execute(trx)
  return new Set(outdated.map(({ id }) => id))
}

const columnsOf = ({ producerId, accountId, occurredAt, data: { bookingId } }: Cancellation) => ({
  producer_id: producerId,
  booking_id: bookingId,
  account_id: accountId,
  occurred_at: occurredAt
})

async function publishChanges (trx: Trx, bookings: Booking[]) {
  for (const { id, account_id: accountId, booking_id: bookingId, title, starts_at, ends_at, ...others } of bookings) {
    // Nobody has heard of one that was never confirmed.
    if (title === null || starts_at === null || ends_at === null) continue
    await publish(trx, BookingChanged, id, {
      id,
      accountId,
      bookingId,
      title,
      startsAt: starts_at.toISOString(),
      endsAt: ends_at.toISOString(),
      locationName: others.location_name,
      isCancelled: others.is_cancelled,
      version: others.version
    })
  }
}
