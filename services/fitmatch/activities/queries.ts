import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { paginate } from '@tandem/http-kit'
import { distanceKmBetween, visibleKm } from '../candidates/score.ts'
import { cellRangesAround } from '../discover/cells.ts'
import { ActivityNotFound } from '../errors.ts'
import type { Caller } from '../people/queries.ts'
import { haveTrainedTogether } from '../people/visibility.ts'
import { mainPhotoOf } from '../photos/queries.ts'
import { formatTimeCursor, type TimePosition } from '../schemas.ts'
import type { ActivityStatus, Db } from '../tables.ts'
import { DAY_MS } from './times.ts'
import { canSeeActivity, canSeeParticipant, hasHostOfAge, isInside, isParticipantFor } from './visibility.ts'

const MAX_SHOWN_PARTICIPANTS = 100
const UPCOMING_DAYS = 14
const MAX_UPCOMING = 10
// An area's centre is at most this far from a position in it.
const AREA_RADIUS_KM = 12

/** The status as of `now`: the worker that marks activities as finished can be a little late. */
const statusAt = (now: Date) =>
  sql<
    ActivityStatus
  >`case when activities.status = 'PLANNED' and ends_at <= ${now} then 'FINISHED' else activities.status end`

const timeColumns = [
  sql<string>`date::text`.as('date'),
  sql<string>`to_char(start_time, 'HH24:MI')`.as('startTime'),
  sql<string>`to_char(end_time, 'HH24:MI')`.as('endTime')
] as const
export const localTimeColumns = [...timeColumns, 'timezone'] as const

/** The position that others may be compared with: of a host who hides their distance, only the area. */
const publicPosition = {
  latitude: sql`case when show_distance then activities.latitude else area_latitude(activities.latitude) end`,
  longitude:
    sql`case when show_distance then activities.longitude else area_longitude(activities.latitude, activities.longitude) end`
}

/** Whether the caller takes part: `own` is their row. */
const isOwnInside = sql<boolean>`coalesce(own.state in ('INVITED', 'GOING'), false)`

/**
 * Activities that the caller can see, as the caller sees them: those who do not take part get no place and no names.
 * One statement, because what they may see must not change between two reads.
 */
function selectActivities (db: Db, me: Pick<Caller, 'accountId' | 'latitude' | 'longitude'>, now: Date) {
  const viewer = me.accountId
  const distance = sql<{ km: number | null }>`(select ${distanceKmBetween(me, publicPosition)} as km)`
  return db.selectFrom('activities')
    // Guests keep the canceled activities of a suspended host, without the host's name and photo.
    .leftJoin(
      'profiles',
      (join) => join.onRef('profiles.account_id', '=', 'activities.host_id').on('profiles.suspended', '=', false)
    )
    .leftJoin(
      'activity_participants as own',
      (join) => join.onRef('own.activity_id', '=', 'activities.id').on('own.account_id', '=', viewer)
    )
    .leftJoinLateral(distance.as<'measured'>(sql.ref('measured')), (join) => join.onTrue())
    .where(canSeeActivity(viewer, now))
    .select((eb) => [
      'activities.id',
      'title',
      'sport',
      ...localTimeColumns,
      'starts_at as startsAt',
      'ends_at as endsAt',
      isOwnInside.as('isInside'),
      eb.case().when(isOwnInside).then(eb.ref('location_name')).end().as('locationName'),
      eb.case().when(isOwnInside).then(eb.ref('venue')).end().as('venue'),
      eb.case().when(isOwnInside).then(eb.ref('note')).end().as('note'),
      'activities.city',
      visibleKm.as('km'),
      'visibility',
      'capacity',
      eb.case().when(isOwnInside).then(goingSeenBy(viewer)).else(eb.ref('going_count')).end().as('goingCount'),
      statusAt(now).as('status'),
      'activities.version',
      sql<boolean>`activities.host_id = ${viewer}`.as('isHost'),
      'own.state as myState',
      'profiles.id as hostProfileId',
      'display_name as hostName',
      mainPhotoOf('profiles.id').as('hostPhoto'),
      isFirstMeeting(viewer).as('firstMeeting'),
      hasBlockedPerson(viewer).as('hasBlockedPerson'),
      jsonArrayFrom(participantsSeenBy(db, viewer)).as('participants'),
      jsonArrayFrom(followersInvitedBy(db, viewer)).as('invitedFollowers')
    ])
}

/**
 * How many of the people that somebody inside sees have a place. The number of all places would tell them that one of the
 * others has blocked them. Capacity counts all: `going_count`.
 */
const goingSeenBy = (viewer: string) =>
  sql<number>`(
    select count(*)::int from activity_participants participant
    join profiles person on person.account_id = participant.account_id
    where participant.activity_id = activities.id and (participant.state = 'GOING' or participant.was_going)
      and ${canSeeParticipant(viewer)})`

/** Whether the viewer has never trained with someone they see in the activity. */
const isFirstMeeting = (viewer: string) =>
  sql<boolean>`exists (
    select from activity_participants participant
    where participant.activity_id = activities.id and participant.account_id <> ${viewer}
      and participant.state in ('INVITED', 'GOING')
      and (${isOwnInside} or participant.account_id = activities.host_id)
      and ${canSeeParticipant(viewer)}
      and not ${haveTrainedTogether(viewer, sql`participant.account_id`)})`

const hasBlockedPerson = (viewer: string) =>
  sql<boolean>`exists (
    select from activity_participants other join blocks on blocked_id = other.account_id and blocker_id = ${viewer}
    where other.activity_id = activities.id and other.state in ('INVITED', 'GOING'))`

/** The people in an activity that `viewer` takes part in. The host also sees those who asked, declined or left. */
const participantsSeenBy = (db: Db, viewer: string) =>
  db.selectFrom('activity_participants as participant')
    .innerJoin('profiles as person', 'person.account_id', 'participant.account_id')
    .where(sql<boolean>`participant.activity_id = activities.id`)
    .where(isOwnInside)
    .where(canSeeParticipant(viewer))
    .where(sql<boolean>`(participant.state in ('INVITED', 'GOING')
      or activities.host_id = ${viewer} and participant.state in ('ASKED', 'DECLINED', 'LEFT'))`)
    .select([
      // Of others only the profile: the account would show the name outside of FitMatch.
      sql<string>`case when participant.account_id = ${viewer} then participant.account_id else person.id end`.as('id'),
      'person.id as profileId',
      'person.display_name as name',
      mainPhotoOf('person.id').as('image'),
      'participant.state',
      'participant.was_going as wasGoing',
      'participant.checked_in_at as checkedInAt'
    ])
    .orderBy(sql`participant.account_id = activities.host_id`, 'desc')
    .orderBy(sql`participant.state = 'GOING'`, 'desc')
    .orderBy('participant.created_at').orderBy('participant.account_id')
    .limit(MAX_SHOWN_PARTICIPANTS)

/** People that the host invited because they follow them, until they accept: the accounts that the host knows. */
const followersInvitedBy = (db: Db, hostId: string) =>
  db.selectFrom('activity_participants as participant')
    .leftJoin('people as person', 'person.account_id', 'participant.account_id')
    .where(sql<boolean>`participant.activity_id = activities.id`)
    .where(sql<boolean>`activities.host_id = ${hostId}`)
    .where('participant.by_account', '=', true).where('participant.state', 'in', ['INVITED', 'DECLINED'])
    .where(isParticipantFor(hostId))
    .select([
      'participant.account_id as id',
      sql<string>`coalesce(person.name, 'Someone')`.as('name'),
      'participant.state'
    ])
    .orderBy('participant.created_at').orderBy('participant.account_id')
    .limit(MAX_SHOWN_PARTICIPANTS)

export type ActivityRow = Awaited<ReturnType<ReturnType<typeof selectActivities>['executeTakeFirstOrThrow']>>

export async function findActivity (db: Db, me: Caller, activityId: string, now: Date) {
  return await selectActivities(db, me, now).where('activities.id', '=', activityId).executeTakeFirst()
}

/** @throws ActivityNotFound */
export async function readActivity (db: Db, me: Caller, activityId: string, now: Date): Promise<ActivityRow> {
  const row = await findActivity(db, me, activityId, now)
  if (!row) throw new ActivityNotFound()
  return row
}

export const activityFilters = ['upcoming', 'invitations', 'past'] as const
export type ActivityFilter = typeof activityFilters[number]

interface ActivityPage {
  limit: number
  /** The start and the id of an activity. */
  cursor: TimePosition | undefined
  now: Date
}

const isAfter = ({ time, id }: TimePosition, order: 'asc' | 'desc') =>
  sql<boolean>`(starts_at, activities.id) ${order === 'asc' ? sql`>` : sql`<`} (${time}, ${id}::uuid)`

/**
 * Activities of the caller. `upcoming`: they go, soonest first. `invitations`: they are invited or have asked, soonest
 * first. `past`: they went or were to go, and it is over or canceled, latest first.
 */
export async function listActivities (
  db: Db,
  me: Caller,
  { filter, limit, cursor, now }: ActivityPage & { filter: ActivityFilter }
) {
  const isPast = filter === 'past'
  const order = isPast ? 'desc' : 'asc'
  const rows = await selectActivities(db, me, now)
    .where((eb) =>
      eb.or([
        eb('own.state', 'in', filter === 'invitations' ? ['INVITED', 'ASKED'] : ['GOING']),
        // They had agreed, and it was moved and canceled before they answered again.
        ...isPast ? [eb('own.was_going', '=', true)] : []
      ])
    )
    .where(sql<boolean>`(activities.status = 'PLANNED' and ends_at > ${now}) <> ${isPast}`)
    .$if(cursor !== undefined, (query) => query.where(isAfter(cursor as TimePosition, order)))
    .orderBy('starts_at', order).orderBy('activities.id', order)
    .limit(limit + 1)
    .execute()
  return toPage(rows, limit)
}

interface NearbySearch extends ActivityPage {
  sport: string | undefined
  from: string | undefined
  to: string | undefined
}

/**
 * Open activities near the caller in which they do not take part, soonest first: the order says nothing about the
 * distance. Those without a position are near if they are in the caller's city, and so are all if the caller has none.
 */
export async function listNearby (
  { db, minAge }: { db: Db, minAge: number },
  me: Caller,
  search: NearbySearch
) {
  const rows = await selectActivities(db, me, search.now)
    .innerJoin(selectByCell(db, me, search).as('nearby'), (join) => join.onRef('nearby.nearbyId', '=', 'activities.id'))
    .where(hasHostOfAge(minAge))
    .where(sql<boolean>`not ${isOwnInside}`)
    .where(sql<boolean>`coalesce(km <= ${me.maxDistance}, true)`)
    .orderBy('nearbyStart').orderBy('nearbyId')
    .limit(search.limit + 1)
    .execute()
  return toPage(rows, search.limit)
}

/**
 * The open activities in the cells around the caller, soonest first. In this order the other conditions are evaluated, one
 * activity after the other, until the page is full.
 */
function selectByCell (db: Db, me: Caller, { sport, from, to, cursor, now }: NearbySearch) {
  const ranges = cellRangesAround(me, me.maxDistance + AREA_RADIUS_KM)
  const cells = sql`(
    select * from unnest(${ranges.map(({ first }) => first)}::int[], ${ranges.map(({ last }) => last)}::int[])
    union select city_cell, city_cell from (${cityCellOf(me.id)}) as own)`
  const inCells = db.selectFrom('activities')
    .where(sql<boolean>`cell between first_cell and last_cell`)
    // In the text, not as parameters: a generic plan would not use the index of open activities.
    .where(sql<boolean>`visibility = 'OPEN' and status = 'PLANNED'`)
    .where('starts_at', '>', now).where('host_id', '<>', me.accountId)
    .$if(sport !== undefined, (query) => query.where('sport', '=', sport as string))
    .$if(from !== undefined, (query) => query.where('date', '>=', from as string))
    .$if(to !== undefined, (query) => query.where('date', '<=', to as string))
    .$if(cursor !== undefined, (query) => query.where(isAfter(cursor as TimePosition, 'asc')))
    .select(['id as nearbyId', 'starts_at as nearbyStart'])
    // Keeps Postgres from joining all activities with all ranges.
    .offset(0)
  return db.selectFrom(cells.as<'range'>(sql`range (first_cell, last_cell)`))
    .innerJoinLateral(inCells.as('found'), (join) => join.onTrue())
    .select(['nearbyId', 'nearbyStart'])
    .orderBy('nearbyStart').orderBy('nearbyId')
}

/** The cell of the activities without a position in the city of a profile; null without a city. */
const cityCellOf = (profileId: string) =>
  sql`select -1 - (hashtext(lower(city)) & 1048575) as city_cell from profiles where id = ${profileId}`

function toPage (rows: ActivityRow[], limit: number) {
  const { page, nextCursor } = paginate(rows, limit, ({ startsAt, id }) => formatTimeCursor({ time: startsAt, id }))
  return { activities: page, nextCursor }
}

/**
 * The next activities that the person goes to, as the home screen shows them. A statement of its own: it is read at
 * each opening of an app, and few people have any.
 */
export async function listUpcoming (db: Db, accountId: string, now: Date) {
  return await db.selectFrom('activity_participants as own').innerJoin('activities', 'activities.id', 'own.activity_id')
    .where('own.account_id', '=', accountId).where('own.state', '=', 'GOING')
    .where('activities.status', '=', 'PLANNED').where('ends_at', '>', now)
    .where('starts_at', '<=', new Date(now.getTime() + UPCOMING_DAYS * DAY_MS))
    .where(canSeeActivity(accountId, now))
    .select([
      'activities.id',
      'title',
      'sport',
      ...timeColumns,
      sql<string>`coalesce(location_name, '')`.as('locationName')
    ])
    .orderBy('starts_at').orderBy('activities.id')
    .limit(MAX_UPCOMING)
    .execute()
}

/** The activities to come in which the caller and another person both take part, for their chat. */
export async function listShared (db: Db, me: Caller, otherId: string, now: Date) {
  return await selectActivities(db, me, now)
    .where('own.state', 'in', ['INVITED', 'GOING'])
    .where('activities.status', '=', 'PLANNED').where('ends_at', '>', now)
    .where(sql<boolean>`exists (select from activity_participants other where other.activity_id = activities.id
      and other.account_id = ${otherId} and other.state in ('INVITED', 'GOING'))`)
    .orderBy('starts_at').orderBy('activities.id')
    .limit(MAX_UPCOMING)
    .execute()
}

/**
 * An activity as the posts of `accountId` show it, who takes part in it; undefined for others. Only the host can show
 * others the place.
 */
export async function findActivitySnapshot (db: Db, accountId: string, activityId: string, now: Date) {
  return await db.selectFrom('activities')
    .where('activities.id', '=', activityId)
    .where(isInside(accountId))
    .where(canSeeActivity(accountId, now))
    .select([
      'activities.id',
      'title',
      'sport',
      sql<string>`date::text`.as('date'),
      sql<string>`to_char(start_time, 'HH24:MI')`.as('startTime'),
      'starts_at as startsAt',
      sql<string | null>`case when activities.host_id = ${accountId} then location_name end`.as('locationName'),
      goingSeenBy(accountId).as('participants'),
      sql<boolean>`visibility = 'OPEN' and activities.status = 'PLANNED' and starts_at > ${now}
        and going_count < capacity`.as('isOpen')
    ])
    .executeTakeFirst()
}
