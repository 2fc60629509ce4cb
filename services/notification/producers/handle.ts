import { inSavepoints } from '@tandem/database-kit'
import { readBrand } from '@tandem/brand-kit'
import { runSteps, runWhenDue, type Log } from '@tandem/process-kit'
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { changeInbox, joinChanges } from '../notifications/change-inbox.ts'
import { notify } from '../notifications/notify.ts'
import type { NotificationRequest } from '../notifications/plan.ts'
import { findRecipients } from '../notifications/recipients.ts'
import { lockInboxes } from '../notifications/removal.ts'
import { about } from '../notifications/subjects.ts'
import { withdrawWithin } from '../notifications/withdraw.ts'
import type { Params, Trx } from '../tables.ts'
import { cancelBookings, confirmBookings, findOutdated, type BookingEvent } from './bookings.ts'
import { BATCH_SIZE, lookUpAccounts, lookUpTokens } from './lookups.ts'
import { producerEventsTotal } from './metrics.ts'

// A process that dies between a commit and its own work leaves it to another one for as long.
const MAX_INTERVAL_MS = 5_000
const MAX_ATTEMPTS = 8

/** Handles the events of producers when they arrive, and reminders when they are due, until it is stopped. */
export function startProducerEvents (deps: Deps, log: Log) {
  const due = runWhenDue(async () => await handleProducerEvents(deps), {
    findNext: async () => await findNext(deps),
    maxIntervalMs: MAX_INTERVAL_MS,
    now: deps.now,
    log
  })
  deps.arrivals.on('event', due.ring)
  return async () => {
    deps.arrivals.off('event', due.ring)
    await due.stop()
  }
}

async function findNext ({ db, now }: Deps) {
  const { rows: [next] } = await sql<{ dueAt: Date | null, isUnknown: boolean }>`
    select (select min(due_at) from producer_events where is_known) as "dueAt",
      exists (select from producer_events where not is_known) as "isUnknown"`.execute(db)
  return next?.isUnknown ? now() : next?.dueAt
}

/** Handles what is due. The accounts of each step can be looked up while others cannot. */
export async function handleProducerEvents (deps: Deps) {
  await runSteps({
    'look up account tokens': async () => {
      while (await lookUpTokens(deps) === BATCH_SIZE);
    },
    'look up accounts': async () => {
      while (await lookUpAccounts(deps) === BATCH_SIZE);
    },
    'handle events of producers': async () => {
      while (await handleNext(deps) > 0);
    }
  })
}

const turn = sql`hashtext('handle events of producers')`

/**
 * Handles the next due events in one transaction, which deletes them. Replicas take turns, so that events of one booking
 * are not handled at once. An event that fails is postponed, and prevents no other one.
 * @returns how many there were
 */
export async function handleNext (deps: Deps): Promise<number> {
  const { count } = await changeInbox(deps, async (trx) => {
    const { rows: [lock] } = await sql<{ isMine: boolean }>`
      select pg_try_advisory_xact_lock(${turn}) as "isMine"`.execute(trx)
    const events = lock?.isMine ? await readDue(trx, deps.now()) : []
    await lockInboxes(trx, events.map(({ accountId }) => accountId))
    const { results, failures } = await inSavepoints(trx, events, async (some) => await apply(trx, deps, some))
    for (const { item: { id, attempts, type }, error } of failures) {
      const isLast = attempts + 1 >= MAX_ATTEMPTS
      deps.log.error({ err: error, eventType: type, isLast }, 'an event of a producer failed')
      if (isLast) await trx.deleteFrom('producer_events').where('id', '=', id).execute()
      else await postpone(trx, id)
    }
    return { count: events.length, ...joinChanges(results) }
  })
  return count
}

/** The pause doubles: a minute, two, four … */
const postpone = async (trx: Trx, id: string) =>
  await sql`
    update producer_events set attempts = attempts + 1, due_at = now() + interval '1 minute' * (2 ^ attempts)
    where id = ${id}`.execute(trx)

type DueEvent = BookingEvent & { id: string, eventId: string, dueAt: Date, attempts: number } & Content

/** What `parseEvent` has checked. */
type Content =
  | { type: 'booking.confirmed', data: BookingDetails }
  | { type: 'booking.reminder', data: BookingDetails }
  | { type: 'booking.cancelled', data: { bookingId: string } }
  | { type: 'admin.announcement', data: { text: Words } }

type Words = Partial<Record<string, { title: string, body: string }>>

interface BookingDetails {
  bookingId: string
  title: string
  startsAt: string
  endsAt: string
  locationName?: string
  text?: Words
}

async function readDue (trx: Trx, now: Date): Promise<DueEvent[]> {
  const { rows } = await sql<DueEvent>`
    select id, producer_id as "producerId", event_id as "eventId", type, account_id as "accountId", data,
      occurred_at as "occurredAt", due_at as "dueAt", attempts
    from producer_events where is_known and due_at <= ${now}
    order by due_at limit ${sql.lit(BATCH_SIZE)}`.execute(trx)
  return rows
}

const isOfType = <Type extends Content['type']>(type: Type) => (event: DueEvent): event is DueEvent & { type: Type } =>
  event.type === type

/**
 * Cancellations come first and reminders last: nobody is notified of a booking that is already cancelled, or of a time
 * from which it was moved.
 */
async function apply (trx: Trx, deps: Deps, events: DueEvent[]) {
  const cancellations = events.filter(isOfType('booking.cancelled'))
  await cancelBookings(trx, cancellations)
  const { changed, moved } = await confirmBookings(trx, events.filter(isOfType('booking.confirmed')))
  const reminders = events.filter(isOfType('booking.reminder'))
  const outdated = await findOutdated(trx, reminders)
  const told = [
    ...changed,
    ...reminders.filter((each) => !outdated.has(each.id) && new Date(each.data.startsAt) > deps.now()),
    ...events.filter(isOfType('admin.announcement'))
  ].map((event) => ({ event, request: requestFor(event) }))

  const withdrawals = [
    await withdrawWithin(
      trx,
      cancellations.map(({ producerId, accountId, data: { bookingId } }) => ({
        subject: about.booking(producerId, bookingId),
        accountId,
        isGone: true
      })),
      0
    )
  ]
  // Also a reminder of the former time whose push waits for the end of quiet hours.
  for (const { producerId, accountId, occurredAt, data: { bookingId } } of moved) {
    const reminders = { subject: about.remindersOf(producerId, bookingId), accountId }
    withdrawals.push(await withdrawWithin(trx, [reminders], sequenceOf(occurredAt)))
  }
  const recipients = await findRecipients({ ...deps, db: trx }, told.map(({ request }) => request))
  const notified = await notify(
    trx,
    told.map(({ event: { type, occurredAt, dueAt }, request }, number) => ({
      request,
      recipients: recipients[number] ?? [],
      // A reminder is as old as the time for which it was planned.
      occurredAt: type === 'booking.reminder' ? dueAt : occurredAt,
      sequence: sequenceOf(occurredAt)
    })),
    deps.now()
  )
  await sql`delete from producer_events where id = any(${events.map(({ id }) => id)}::uuid[])`.execute(trx)
  for (const { type } of events) producerEventsTotal.inc({ type, outcome: 'handled' })
  return joinChanges([...withdrawals, notified])
}

/** Producers number nothing, so the events of a booking are in the order of their times. */
const sequenceOf = (occurredAt: Date) => occurredAt.getTime()

function requestFor (event: Exclude<DueEvent, { type: 'booking.cancelled' }>): NotificationRequest {
  const { producerId, eventId, accountId } = event
  if (event.type === 'admin.announcement') {
    return {
      kind: 'announcement',
      dedupeKey: `announcement:${producerId}:${eventId}`,
      to: [accountId],
      params: paramsOf(event.data.text)
    }
  }
  const { bookingId, title, startsAt, text } = event.data
  const isReminder = event.type === 'booking.reminder'
  return {
    ...text
      ? { kind: 'bookingTold', params: { ...paramsOf(text), ...isReminder && { startsAt } } }
      : { kind: isReminder ? 'reservationReminded' : 'reservationConfirmed', params: { title, startsAt } },
    dedupeKey: isReminder ? `booking-reminder:${producerId}:${eventId}` : about.booking(producerId, bookingId),
    to: [accountId],
    subjects: [
      about.booking(producerId, bookingId),
      ...isReminder ? [about.remindersOf(producerId, bookingId)] : []
    ],
    data: { bookingId },
    ...isReminder && { pointlessFrom: new Date(startsAt) }
  }
}

/** The texts in every language: where one is missing, those of another one. */
function paramsOf (text: Words): Params {
  const [any] = Object.values(text)
  return Object.fromEntries(
    readBrand().texts.locales.flatMap((language) => {
      const { title, body } = text[language] ?? any ?? { title: '', body: '' }
      return [[`title_${language}`, title], [`body_${language}`, body]]
    })
  )
}
