import Type from 'typebox'
import type { Selectable } from 'kysely'
import { AchievementSnapshot, ActivitySnapshot, WorkoutSnapshot } from '@tandem/contracts'
import { isUuid, Nullable, named, Timestamp } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { UnknownAchievement, UnknownActivity, UnknownWorkout } from '../errors.ts'
import type { Db, Tables } from '../tables.ts'
import type { PostRow } from './queries.ts'

const Workout = named(
  'PostWorkout',
  Type.Object({
    id: Type.String(),
    name: Nullable(Type.String()),
    startedAt: Timestamp,
    durationMinutes: Type.Integer(),
    exercises: Type.Integer({ description: 'How many' }),
    volumeKg: Type.Number({ description: 'The lifted weight: repetitions × kilograms over all sets' }),
    prs: Type.Integer({ description: 'How many personal records it set' }),
    calories: Nullable(Type.Number(), { description: 'The active energy in kilocalories, if the log says it' })
  })
)
const Achievement = named(
  'PostAchievement',
  Type.Object({
    id: Type.String(),
    kind: Type.String({ description: 'As in `GET /achievements`' }),
    title: Type.String({ description: 'In the language of the author' }),
    earnedAt: Timestamp
  })
)
const Activity = named(
  'PostActivity',
  Type.Object({
    id: Type.String(),
    title: Type.String(),
    sport: Type.String(),
    date: Type.String(),
    startTime: Type.String({ description: 'On the clock at its place' }),
    locationName: Nullable(Type.String(), { description: 'Null unless the author is its host' }),
    participants: Type.Integer({ description: 'How many, with the host' }),
    isOpen: Type.Boolean({ description: 'Whether people can ask for a place; false once it starts or is canceled' })
  })
)
const Location = named(
  'PostLocation',
  Type.Object({
    name: Nullable(Type.String()),
    latitude: Nullable(Type.Number({ description: 'Rounded to 0.01°' })),
    longitude: Nullable(Type.Number())
  })
)

/** The fields of a post about something else than itself. */
export const snapshotFields = {
  workout: Nullable(Workout, { description: 'The workout as it was when the post was created' }),
  achievement: Nullable(Achievement),
  activity: Nullable(Activity, { description: 'The activity as it was when the post was created' }),
  location: Nullable(Location)
}

export type Snapshots = Pick<Selectable<Tables['posts']>, 'workout' | 'achievement' | 'activity'>

export const noSnapshots: Snapshots = { workout: null, achievement: null, activity: null }

/**
 * Fetches what a new post shows from the services that own it. An id of somebody else is refused as an unknown one is.
 * @param findLanguage that of the author, for the title of an achievement
 * @throws UnknownWorkout, UnknownAchievement, UnknownActivity, Unavailable
 */
export async function fetchSnapshots (
  { callRpc }: Pick<Deps, 'callRpc'>,
  accountId: string,
  { workoutId, achievementId, activityId, findLanguage }: {
    workoutId?: string | undefined,
    achievementId?: string | undefined,
    activityId?: string | undefined,
    findLanguage: () => Promise<string>
  }
): Promise<Snapshots> {
  const find = async <Snapshot>(
    id: string | undefined,
    fetch: (id: string) => Promise<Snapshot | null>,
    createError: () => Error
  ) => {
    if (!id) return null
    const snapshot = isUuid(id) ? await fetch(id) : null
    if (!snapshot) throw createError()
    return snapshot
  }
  const [workout, achievement, activity] = await Promise.all([
    find(
      workoutId,
      async (id) => await callRpc(WorkoutSnapshot, { accountId, workoutId: id }),
      () => new UnknownWorkout()
    ),
    find(
      achievementId,
      async (id) =>
        await callRpc(AchievementSnapshot, { accountId, achievementId: id, language: await findLanguage() }),
      () => new UnknownAchievement()
    ),
    find(
      activityId,
      async (id) => await callRpc(ActivitySnapshot, { accountId, activityId: id }),
      () => new UnknownActivity()
    )
  ])
  return { workout, achievement, activity }
}

/** What a post shows, as the API returns it. */
export const toSnapshotResponses = (post: PostRow) => ({
  workout: post.workout,
  achievement: post.achievement,
  activity: toActivityResponse(post.activity, post.isActivityCanceled),
  location: toLocation(post)
})

function toActivityResponse (snapshot: Snapshots['activity'], isCanceled: boolean) {
  if (!snapshot) return null
  const { startsAt, isOpen, ...shown } = snapshot
  return { ...shown, isOpen: isOpen && !isCanceled && new Date(startsAt) > new Date() }
}

function toLocation ({ locationName, latitude, longitude }: PostRow) {
  const isPosition = latitude !== null && longitude !== null
  if (locationName === null && !isPosition) return null
  return { name: locationName, latitude: isPosition ? latitude : null, longitude: isPosition ? longitude : null }
}

const STEPS_PER_DEGREE = 100

/** A coordinate of a post: exact ones would show where its author lives. */
export const roundDegrees = (degrees: number) => Math.round(degrees * STEPS_PER_DEGREE) / STEPS_PER_DEGREE

// An activity can be planned 90 days ahead, and moved.
const MAX_PLANNED_DAYS = 180

/** Stores that an activity was canceled. Posts that show it read it from there, whichever came first. */
export async function storeCanceledActivity (
  db: Db,
  { activityId, startsAt }: { activityId: string, startsAt: string }
) {
  await db.insertInto('canceled_activities').values({ activity_id: activityId, starts_at: new Date(startsAt) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Deletes canceled activities that no post shows as open any more, because they would be over. */
export async function deleteOldCanceledActivities (db: Db) {
  const latest = new Date(Date.now() - MAX_PLANNED_DAYS * 24 * 60 * 60 * 1_000)
  await db.deleteFrom('canceled_activities').where('starts_at', '<', latest).execute()
}
