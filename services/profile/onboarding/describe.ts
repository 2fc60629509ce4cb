import type { Media } from '@tandem/media-kit'
import { bodyOf } from '../people/describe.ts'
import { preferencesOf } from '../people/preferences.ts'
import type { Person } from '../people/queries.ts'

const text = (id: number | null) => id === null ? null : String(id)

/** The onboarding progress of a person, with all fields saved so far. */
export function describeProgress (media: Media, person: Person) {
  return {
    isCompleted: person.current_step === 3,
    currentStep: person.current_step,
    currentSubStep: person.current_sub_step,
    completedAt: person.completed_at,
    skippedAt: null,
    profile: {
      name: person.name,
      ...bodyOf(person),
      birthDate: person.birth_date,
      photos: person.photos.map((photo) => media.urlOf(photo)),
      bio: person.bio,
      communityRulesAccepted: person.community_rules_accepted,
      countryId: text(person.country_id),
      regionId: text(person.region_id),
      cityId: text(person.city_id),
      locale: person.locale,
      avatarUrl: media.urlOf(person.image),
      ...preferencesOf(person)
    }
  }
}
