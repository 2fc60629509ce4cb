interface Completeness {
  bio: string | null
  birthDate: string | null
  gender: string | null
  height: number | null
  city: string | null
  latitude: number | null
  photos: unknown[]
  interestedIn: unknown[]
  fitnessGoals: unknown[]
  preferredTimes: unknown[]
  workoutDays: unknown[]
  prompts: unknown[]
  venues: unknown[]
}

const points = (isComplete: boolean, value: number) => isComplete ? value : 0

/** How complete a profile is, 0 to 100. The name, which is always present, counts 5. */
export function scoreProfile (profile: Completeness) {
  return 5 +
    points(profile.bio !== null, 10) + points(profile.birthDate !== null, 5) + points(profile.gender !== null, 5) +
    points(profile.height !== null, 5) +
    points(profile.city !== null || profile.latitude !== null, 10) + 5 * Math.min(profile.photos.length, 5) +
    points(profile.interestedIn.length > 0, 10) + points(profile.fitnessGoals.length > 0, 5) +
    points(profile.preferredTimes.length > 0, 5) +
    points(profile.workoutDays.length > 0, 5) + points(profile.prompts.length > 0, 5) +
    points(profile.venues.length > 0, 5)
}
