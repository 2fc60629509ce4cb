import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Day, Erased, Id, ImageDetails, Nullable, Timestamp, erasureCheck, personalData } from './schemas.ts'

/** The time zone of people whose own is unknown, and of new people without a place. */
export const DEFAULT_TIMEZONE = 'Asia/Jakarta'

/** How a person appears to others, with their language and time zone. */
const appearance = Type.Object({
  accountId: Id,
  /**
   * When it changed, to the microsecond; later with each change. Of two appearances the later one is valid, whether
   * from an event or an RPC.
   */
  changedAt: Type.Optional(Timestamp),
  name: Type.String(),
  username: Type.String(),
  image: Nullable(Type.String()),
  imageDetails: Type.Optional(ImageDetails),
  bio: Nullable(Type.String()),
  locale: Type.String(),
  timezone: Type.String(),
  /** Whether to push notifications to them; null if they were never asked. */
  pushNotifications: Type.Optional(Nullable(Type.Boolean()))
})

export type Appearance = Type.Static<typeof appearance>

export const PersonChanged = defineEvent('profile.person.changed.v1', appearance)

/**
 * What other services match and compute with. Heights in centimetres, weights in kilograms; the lists hold ids of
 * onboarding options.
 */
const facts = {
  gender: Nullable(Type.Enum(['MALE', 'FEMALE', 'OTHER'])),
  birthDate: Nullable(Day),
  height: Nullable(Type.Number()),
  weight: Nullable(Type.Number()),
  /** When this weight was logged or entered; null without one. */
  weighedAt: Type.Optional(Nullable(Timestamp)),
  /** The weight that the person entered in their profile, and when. A later logged one does not change them. */
  enteredWeight: Type.Optional(Nullable(Type.Number())),
  enteredAt: Type.Optional(Nullable(Timestamp)),
  fitnessGoal: Nullable(Type.String()),
  experience: Type.String(),
  motivations: Type.Array(Type.String()),
  favoriteSports: Type.Array(Type.String()),
  activityStyle: Type.Array(Type.String()),
  preferredAvailability: Type.Array(Type.String()),
  /** `early_morning`, `evening` and the like. */
  preferredWorkoutTime: Type.Optional(Type.Array(Type.String())),
  /** Workouts a week; null if they were never asked. */
  workoutFrequency: Type.Optional(Nullable(Type.Integer()))
}

export const FactsChanged = defineEvent(
  'profile.facts.changed.v1',
  Type.Object({
    accountId: Id,
    /** As in the appearance of a person. */
    changedAt: Type.Optional(Timestamp),
    ...facts
  })
)

/** The initial data of a FitMatch profile; null for an unknown account. */
export const MatchFacts = defineRpc('profile.match-facts.v1', {
  request: Type.Object({ accountId: Id }),
  response: Nullable(Type.Object({
    name: Type.String(),
    bio: Nullable(Type.String()),
    city: Nullable(Type.String()),
    latitude: Nullable(Type.Number()),
    longitude: Nullable(Type.Number()),
    timezone: Type.String(),
    photos: Type.Array(Type.String()),
    /** Of each photo, in the same order. */
    photoDetails: Type.Optional(Type.Array(ImageDetails)),
    /** As in the appearance of a person. */
    changedAt: Type.Optional(Timestamp),
    ...facts
  }))
})

/** Which of these onboarding options are currently offered. */
export const OfferedOptions = defineRpc('profile.offered-options.v1', {
  request: Type.Object({
    type: Type.Enum(['motivation', 'activity_style', 'sport_category', 'sport', 'availability', 'fitmatch_interest']),
    optionIds: Type.Array(Type.String(), { maxItems: 100 })
  }),
  response: Type.Array(Type.String())
})

/** How people appear to others, for services that have no copy of them yet. Unknown accounts are omitted. */
export const People = defineRpc('profile.people.v1', {
  request: Type.Object({ accountIds: Type.Array(Id, { maxItems: 100 }) }),
  response: Type.Array(appearance)
})

/** The same by current username, ignoring case. Unknown usernames are omitted. */
export const PeopleNamed = defineRpc('profile.people-named.v1', {
  request: Type.Object({ usernames: Type.Array(Type.String(), { maxItems: 100 }) }),
  response: Type.Array(appearance)
})

/** A person as their own account shows them. The profile is created on first use; null for an unknown account. */
export const Person = defineRpc('profile.person.v1', {
  request: Type.Object({ accountId: Id }),
  response: Nullable(Type.Object({
    name: Type.String(),
    image: Nullable(Type.String()),
    /** As in the appearance of a person. */
    changedAt: Type.Optional(Timestamp),
    /** When the weight was logged or entered; null without one. */
    weighedAt: Type.Optional(Nullable(Timestamp)),
    /** As in what other services match and compute with. */
    enteredWeight: Type.Optional(Nullable(Type.Number())),
    enteredAt: Type.Optional(Nullable(Timestamp)),
    /** How much of the profile is filled in, 0 to 100. */
    completion: Type.Integer({ minimum: 0, maximum: 100 }),
    profile: Type.Object({
      gender: Nullable(Type.Enum(['MALE', 'FEMALE', 'OTHER'])),
      birthDate: Nullable(Timestamp),
      height: Nullable(Type.Number()),
      heightUnit: Type.Enum(['cm', 'feet']),
      weight: Nullable(Type.Number()),
      weightUnit: Type.Enum(['kg', 'pound']),
      fitnessGoal: Nullable(Type.String()),
      workoutFrequency: Type.Optional(Nullable(Type.Integer())),
      onboardingCompleted: Type.Boolean(),
      onboardingStep: Type.Integer(),
      experience: Type.String(),
      timezone: Type.String(),
      username: Type.String(),
      avatarUrl: Nullable(Type.String())
    })
  }))
})

export const ProfileAccountErased = defineEvent('profile.account.erased.v1', Erased)
export const ProfilePersonalData = defineRpc('profile.personal-data.v1', personalData)
export const ProfileErasureCheck = defineRpc('profile.erasure-check.v1', erasureCheck)
