import { type Static, Type } from 'typebox'

// What an installation offers, and how much of it.

const Switch = Type.Boolean({ description: 'true or false' })

export const Features = Type.Object({
  /** Profiles, swipes, matches and chat, and what needs a profile: buddies and activities. */
  fitmatch: Switch,
  stories: Switch,
  polls: Switch,
  activities: Switch,
  fasting: Switch,
  dashboardPrograms: Switch,
  chatImages: Switch,
  video: Switch
}, { additionalProperties: false })

export type Features = Static<typeof Features>
export type Feature = keyof Features

const count = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })

export const Limits = Type.Object({
  freeSwipesPerDay: count(1, 100_000),
  storiesPerDay: count(1, 1_000),
  storyVideoSeconds: count(1, 600),
  videoSeconds: count(1, 600),
  videoMegabytes: count(1, 500),
  usernameMinCharacters: count(1, 10),
  // Generated ones have up to 20.
  usernameMaxCharacters: count(20, 100),
  /** Of onboarding and of FitMatch. */
  profilePhotos: count(2, 20),
  fitmatchVenues: count(1, 50),
  /** Of people who meet others or track fasts; 0: none. */
  minimumAge: count(0, 120)
}, { additionalProperties: false })

export type Limits = Static<typeof Limits>

/** Nobody can take part in an activity or chat without a FitMatch profile. */
export const withoutOrphans = (features: Features): Features => ({
  ...features,
  activities: features.fitmatch && features.activities,
  chatImages: features.fitmatch && features.chatImages
})
