import Type from 'typebox'
import { Enum, Nullable, Text } from '@tandem/http-kit'
import { validateOptions } from '../options/queries.ts'
import type { Trx } from '../tables.ts'
import type { Person } from './queries.ts'

const OptionIds = (...examples: string[]) =>
  Type.Array(Text({ max: 50 }), { maxItems: 50, uniqueItems: true, examples: [examples] })
const workoutTimes = ['early_morning', 'morning', 'afternoon', 'evening', 'night', 'flexible'] as const
const WorkoutFrequency = Type.Integer({
  minimum: 1,
  maximum: 7,
  description: 'Workouts a week: the weekly target of the health score until a goal is set'
})

/** What onboarding asks about training. The lists contain ids of onboarding options. */
export const preferenceFields = {
  motivations: Type.Optional(OptionIds('stay_healthy')),
  favoriteSports: Type.Optional(OptionIds('running', 'yoga')),
  activityStyle: Type.Optional(OptionIds('partner')),
  preferredAvailability: Type.Optional(OptionIds('morning', 'weekend')),
  preferredWorkoutTime: Type.Optional(
    Type.Array(Enum(workoutTimes), {
      uniqueItems: true,
      description: 'Fills the preferred times of a new FitMatch profile'
    })
  ),
  workoutFrequency: Type.Optional(WorkoutFrequency)
}

/** The answers of onboarding, as responses show them. */
export const preferencesShown = {
  motivations: Type.Array(Type.String()),
  favoriteSports: Type.Array(Type.String()),
  activityStyle: Type.Array(Type.String()),
  preferredAvailability: Type.Array(Type.String()),
  preferredWorkoutTime: Type.Array(Type.String()),
  workoutFrequency: Nullable(Type.Integer()),
  locationEnabled: Nullable(Type.Boolean()),
  pushNotifications: Nullable(Type.Boolean(), { description: 'false: nothing is pushed. The inbox has everything' })
}

export const preferencesOf = (person: Person) => ({
  motivations: person.motivations,
  favoriteSports: person.favorite_sports,
  activityStyle: person.activity_style,
  preferredAvailability: person.preferred_availability,
  preferredWorkoutTime: person.preferred_workout_time,
  workoutFrequency: person.workout_frequency,
  locationEnabled: person.location_enabled,
  pushNotifications: person.push_notifications
})

type Preferences = Type.Static<Type.TObject<typeof preferenceFields>>

/** The columns of preferences; omitted fields stay the same. @throws ValidationError */
export async function preferenceColumns (trx: Trx, person: Person, preferences: Preferences) {
  const { motivations, favoriteSports, activityStyle, preferredAvailability } = preferences
  const { preferredWorkoutTime, workoutFrequency } = preferences
  await validateOptions(trx, [
    { field: 'motivations', type: 'motivation', chosen: motivations, current: person.motivations },
    { field: 'favoriteSports', type: 'sport', chosen: favoriteSports, current: person.favorite_sports },
    { field: 'activityStyle', type: 'activity_style', chosen: activityStyle, current: person.activity_style },
    {
      field: 'preferredAvailability',
      type: 'availability',
      chosen: preferredAvailability,
      current: person.preferred_availability
    }
  ])
  return {
    ...(motivations && { motivations }),
    ...(favoriteSports && { favorite_sports: favoriteSports }),
    ...(activityStyle && { activity_style: activityStyle }),
    ...(preferredAvailability && { preferred_availability: preferredAvailability }),
    ...(preferredWorkoutTime && { preferred_workout_time: preferredWorkoutTime }),
    ...(workoutFrequency !== undefined && { workout_frequency: workoutFrequency })
  }
}

export interface Permissions {
  locationEnabled?: boolean
  pushNotifications?: boolean
  latitude?: number
  longitude?: number
}

/** The columns of permissions. Without permission the coordinates are not stored. */
export const permissionColumns = ({ locationEnabled, pushNotifications, latitude, longitude }: Permissions) => ({
  ...(locationEnabled !== undefined && { location_enabled: locationEnabled }),
  ...(pushNotifications !== undefined && { push_notifications: pushNotifications }),
  ...(locationEnabled === false && { latitude: null, longitude: null }),
  ...(locationEnabled === true && latitude !== undefined && longitude !== undefined && { latitude, longitude })
})
