import { publish } from '@tandem/bus-kit'
import { ActivityEdited, ActivityFilled } from '@tandem/contracts'
import { isRepeat, useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { parseTimezone, readTimezone } from '@tandem/account-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  ActivityChanged,
  ActivityFull,
  ActivityNotOver,
  ActivityOver,
  CannotInvite,
  TooLateToChange,
  TooManyActivities,
  TooManyMoves
} from '../errors.ts'
import { shareMoved } from '../meetings/actions.ts'
import { checkSport } from '../people/offered-sports.ts'
import { readAdult, readParticipant, type Caller } from '../people/queries.ts'
import { todayIn } from '../today.ts'
import type { Db, Trx } from '../tables.ts'
import { cancelLocked } from './endings.ts'
import {
  findCandidates,
  countInvitations,
  insertInvitations,
  listInvitable,
  lockPeople,
  type Candidates,
  type Invitees
} from './invitations.ts'
import { isOver, lockHosted, lockPlanned } from './locks.ts'
import { changesPlace, resolvePlace, type PlaceFields } from './place-fields.ts'
import { eventFieldsOf, listAccounts, publishChanged, readCard } from './places.ts'
import { localTimeColumns, readActivity, type ActivityRow } from './queries.ts'
import type { ActivityFields } from './schemas.ts'
import { replaceTimers } from './timers.ts'
import { checkInstants, FINAL_BEFORE_MS, instantsOf, TZDATA_VERSION, type LocalTimes } from './times.ts'

const ACTIVITIES_PER_DAY = 10
const MAX_PLANNED = 30
// Each is a push to everybody who is invited.
const MOVES_PER_DAY = 20
const DEFAULT_CAPACITY = 2

/** `trail_running` becomes `Trail running`. */
const titleOf = (sport: string) => `${sport.charAt(0).toUpperCase()}${sport.slice(1).replaceAll('_', ' ')}`

const timeColumnsOf = ({ date, startTime, endTime, timezone }: LocalTimes) => {
  const { startsAt, endsAt } = instantsOf({ date, startTime, endTime, timezone })
  return {
    date,
    start_time: startTime,
    end_time: endTime,
    timezone,
    starts_at: startsAt,
    ends_at: endsAt,
    tzdata: TZDATA_VERSION
  }
}

type NewActivityFields =
  & Omit<ActivityFields, 'date' | 'startTime' | 'endTime' | 'sport'>
  & Omit<LocalTimes, 'timezone'>
  & { sport: string }

/** Plans an activity and invites people to it: all of them, or nothing is created. */
export async function createActivity (
  deps: Deps,
  hostId: string,
  { userIds, profileIds, ...fields }: NewActivityFields & Invitees,
  idempotencyKey?: IdempotencyKey
) {
  const { db, callRpc, findPeople, minAge } = deps
  const me = await readAdult({ db, minAge }, hostId)
  const isRepeated = await isRepeat(db, idempotencyKey)
  if (!isRepeated) await checkSport(callRpc, fields.sport)
  const invitees = isRepeated ? {} : { userIds, profileIds }
  const candidates = await findCandidates({ db, callRpc, findPeople }, hostId, invitees)
  const activity = await withIdempotencyKey(db, idempotencyKey, async (trx): Promise<ActivityRow | null> => {
    await lockPeople(trx, hostId, candidates.accountIds)
    await readAdult({ db: trx, minAge }, hostId)
    await countInvitations(trx, me, candidates.count)
    const invitable = await listInvitable(trx, candidates, { hostId, minAge })
    // The transaction commits, for the quota of refused invitations.
    if (invitable.length < candidates.accountIds.length) return null
    return await insertActivity(trx, {
      me,
      now: deps.now(),
      columns: await columnsOf(trx, me, fields),
      invitees: candidates
    })
  })
  if (!activity) throw new CannotInvite()
  return activity
}

async function columnsOf (trx: Trx, me: Caller, fields: NewActivityFields) {
  const { sport, title = titleOf(sport), note, visibility, capacity } = fields
  const timezone = fields.timezone === undefined ? readTimezone(me.timezone) : parseTimezone(fields.timezone)
  const place = await resolvePlace(trx, me, fields)
  if (!place) {
    throw new ValidationError('venueIdOrLocationNameIsRequired', ['venueId', 'locationName'])
  }
  return {
    title,
    sport,
    note: note || null,
    visibility: visibility ?? 'INVITED' as const,
    capacity: capacity ?? DEFAULT_CAPACITY,
    ...timeColumnsOf({ ...fields, timezone }),
    ...place
  }
}

interface NewActivity {
  me: Caller
  now: Date
  columns: Awaited<ReturnType<typeof columnsOf>>
  invitees: Candidates
}

async function insertActivity (trx: Trx, { me, now, columns, invitees }: NewActivity) {
  const { accountId: hostId } = me
  checkInstants({ startsAt: columns.starts_at, endsAt: columns.ends_at }, now)
  await countActivity(trx, me, now)
  const { venue, ...others } = columns
  const { id } = await trx.insertInto('activities')
    .values({ host_id: hostId, ...others, venue: venue && JSON.stringify(venue) })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx.insertInto('activity_participants')
    .values({ activity_id: id, account_id: hostId, state: 'GOING', version: 1 })
    .execute()
  const activity = await lockHosted(trx, hostId, id)
  await replaceTimers(trx, activity, now)
  await insertInvitations(trx, activity, invitees)
  return await readActivity(trx, me, id, now)
}

/** @throws TooManyActivities */
async function countActivity (trx: Trx, { accountId, timezone }: Caller, now: Date) {
  const quota = { name: 'activities', accountId, day: todayIn(timezone), limit: ACTIVITIES_PER_DAY }
  if (await useDailyQuota(trx, quota) === undefined) throw new TooManyActivities()
  // The host is locked, so concurrent requests cannot pass the limit together.
  const { planned } = await trx.selectFrom('activities').where('host_id', '=', accountId)
    .where('status', '=', 'PLANNED').where('ends_at', '>', now)
    .select((eb) => eb.fn.countAll<number>().as('planned'))
    .executeTakeFirstOrThrow()
  if (planned >= MAX_PLANNED) throw new TooManyActivities()
}

/**
 * Changes an activity of the caller; omitted fields stay. A change of the time or the place raises the version, and
 * everyone who goes is invited again, with a reserved place.
 */
export async function updateActivity (
  { db, callRpc, minAge, now }: Deps,
  hostId: string,
  activityId: string,
  { version, ...fields }: Omit<ActivityFields, 'userIds' | 'profileIds'> & { version: number }
) {
  const me = await readAdult({ db, minAge }, hostId)
  if (fields.sport !== undefined) await checkSport(callRpc, fields.sport)
  return await db.transaction().execute(async (trx) => {
    const at = now()
    const activity = await lockPlanned(trx, hostId, activityId, at)
    if (version !== activity.version) throw new ActivityChanged()
    if (fields.capacity !== undefined && fields.capacity < activity.goingCount) throw new ActivityFull()
    const hasDefaultTitle = activity.title === titleOf(activity.sport)
    const title = hasDefaultTitle && fields.sport !== undefined ? titleOf(fields.sport) : activity.title
    const change = await readChange(trx, me, activityId, fields)
    if (change && activity.startsAt.getTime() - at.getTime() < FINAL_BEFORE_MS) throw new TooLateToChange()
    if (change?.times) checkInstants({ startsAt: change.times.starts_at, endsAt: change.times.ends_at }, at)
    if (change) await countMove(trx, me)
    await trx.updateTable('activities').where('id', '=', activityId)
      .set({
        version: change ? version + 1 : version,
        ...change?.times,
        ...change?.place,
        title: fields.title ?? title,
        sport: fields.sport,
        note: fields.note === undefined ? undefined : fields.note || null,
        visibility: fields.visibility,
        capacity: fields.capacity
      })
      .execute()
    // Nothing is free any more, as after the last place was taken.
    if (fields.capacity === activity.goingCount && fields.capacity < activity.capacity) {
      await publish(trx, ActivityFilled, activityId, { activityId })
    }
    if (change?.times || fields.sport !== undefined && fields.sport !== activity.sport) {
      await publish(trx, ActivityEdited, activityId, eventFieldsOf(await lockHosted(trx, hostId, activityId)))
    }
    if (change) {
      await askAgain(trx, hostId, activityId, at)
      await shareMoved(trx, me, { activityId, version: version + 1 })
    }
    return await readActivity(trx, me, activityId, at)
  })
}

/** @throws TooManyMoves */
async function countMove (trx: Trx, { accountId, timezone }: Caller) {
  const quota = { name: 'moved activities', accountId, day: todayIn(timezone), limit: MOVES_PER_DAY }
  if (await useDailyQuota(trx, quota) === undefined) throw new TooManyMoves()
}

/** The new columns of the time and of the place; undefined if neither changes. */
async function readChange (trx: Trx, me: Caller, activityId: string, fields: PlaceFields & Partial<LocalTimes>) {
  const stored = await trx.selectFrom('activities').where('id', '=', activityId)
    .select([...localTimeColumns, 'location_name as locationName', 'venue'])
    .executeTakeFirstOrThrow()
  const { date = stored.date, startTime = stored.startTime, endTime = stored.endTime } = fields
  const timezone = fields.timezone === undefined ? stored.timezone : parseTimezone(fields.timezone)
  const changesTime = date !== stored.date || startTime !== stored.startTime || endTime !== stored.endTime ||
    timezone !== stored.timezone
  const place = await resolvePlace(trx, me, fields)
  const movedPlace = place && changesPlace(place, stored) ? place : undefined
  if (!changesTime && !movedPlace) return
  return {
    ...changesTime && { times: timeColumnsOf({ date, startTime, endTime, timezone }) },
    ...movedPlace && { place: { ...movedPlace, venue: JSON.stringify(movedPlace.venue) } }
  }
}

/** Invites everyone who goes to a changed activity again. Their places stay reserved until shortly before the start. */
async function askAgain (trx: Trx, hostId: string, activityId: string, now: Date) {
  await trx.updateTable('activity_participants').set({ state: 'INVITED', was_going: true })
    .where('activity_id', '=', activityId).where('account_id', '<>', hostId).where('state', '=', 'GOING')
    .execute()
  const changed = await lockHosted(trx, hostId, activityId)
  await replaceTimers(trx, changed, now)
  const invited = await listAccounts(trx, activityId, ['INVITED'])
  await publishChanged(trx, changed, invited, { changedBy: hostId, ...await readCard(trx, hostId) })
}

/** Cancels an activity of the caller. */
export async function cancelActivity ({ db, now }: Deps, hostId: string, activityId: string) {
  await readParticipant(db, hostId)
  await db.transaction().execute(async (trx) =>
    await cancelLocked(trx, await lockPlanned(trx, hostId, activityId, now()), { endedBy: hostId })
  )
}

/**
 * Plans a finished or canceled activity again, and invites everyone who went. It leaves out people who cannot be
 * invited any more; a match or a follow is not needed, because they agreed before.
 */
export async function repeatActivity (
  deps: Deps,
  hostId: string,
  activityId: string,
  times: Pick<LocalTimes, 'date'> & Partial<LocalTimes>,
  idempotencyKey?: IdempotencyKey
) {
  const { db, minAge, now } = deps
  const me = await readAdult({ db, minAge }, hostId)
  const guestIds = await listFormerGuests(db, activityId)
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const unsuspended = await lockPeople(trx, hostId, guestIds)
    await readAdult({ db: trx, minAge }, hostId)
    const earlier = await lockHosted(trx, hostId, activityId)
    if (!isOver(earlier, now())) throw new ActivityNotOver()
    const candidates = { accountIds: guestIds.filter((id) => unsuspended.includes(id)), followerIds: new Set<string>() }
    const invitable = await listInvitable(trx, candidates, { hostId, minAge, isConnected: true })
    await countInvitations(trx, me, invitable.length)
    return await insertActivity(trx, {
      me,
      now: now(),
      columns: await repeatedColumns(trx, activityId, times),
      invitees: { ...candidates, accountIds: invitable }
    })
  })
}

async function listFormerGuests (db: Db, activityId: string) {
  const rows = await db.selectFrom('activity_participants')
    .innerJoin('activities', 'activities.id', 'activity_id')
    .where('activity_id', '=', activityId).whereRef('account_id', '<>', 'host_id')
    .where((eb) => eb.or([eb('state', '=', 'GOING'), eb('was_going', '=', true)]))
    .select('account_id as accountId').orderBy('account_id')
    .execute()
  return rows.map(({ accountId }) => accountId)
}

async function repeatedColumns (trx: Trx, activityId: string, times: Pick<LocalTimes, 'date'> & Partial<LocalTimes>) {
  const { startTime, endTime, timezone, locationName, venue, ...others } = await trx.selectFrom('activities')
    .where('id', '=', activityId)
    .select([
      ...localTimeColumns,
      'title',
      'sport',
      'note',
      'visibility',
      'capacity',
      'venue',
      'location_name as locationName',
      'city',
      'latitude',
      'longitude'
    ])
    .executeTakeFirstOrThrow()
  // The place is erased some time after the end.
  if (locationName === null || venue === null) throw new ActivityOver()
  return { ...others, venue, location_name: locationName, ...timeColumnsOf({ startTime, endTime, timezone, ...times }) }
}
