import { readLimits } from '@tandem/brand-kit'
import Type from 'typebox'
import { Body, ClientUrl, named, Nullable } from '@tandem/http-kit'
import { personFields } from '../people/fields.ts'
import { preferenceFields, preferencesShown } from '../people/preferences.ts'
import { GenderField, HeightUnit, WeightUnit } from '../people/schemas.ts'
import { PlaceId } from '../places/schemas.ts'

const SubStep = (max: number) => Type.Integer({ minimum: 0, maximum: max })

const examplePreferences = {
  motivations: ['stay_healthy'],
  favoriteSports: ['running', 'yoga'],
  activityStyle: ['partner'],
  preferredAvailability: ['morning', 'weekend'],
  preferredWorkoutTime: ['early_morning'],
  workoutFrequency: 3
}

/** What a person has entered so far. */
export const OnboardingProfile = named(
  'OnboardingProfile',
  Type.Object({
    name: Type.String(),
    gender: Nullable(GenderField),
    birthDate: Nullable(Type.String({ examples: ['1998-04-12'] })),
    height: Nullable(Type.Number()),
    heightUnit: HeightUnit,
    weight: Nullable(Type.Number()),
    weightUnit: WeightUnit,
    photos: Type.Array(Type.String()),
    bio: Nullable(Type.String()),
    communityRulesAccepted: Type.Boolean(),
    countryId: Nullable(Type.String()),
    regionId: Nullable(Type.String()),
    cityId: Nullable(Type.String()),
    locale: Type.String(),
    timezone: Type.String(),
    avatarUrl: Nullable(Type.String()),
    fitnessGoal: Nullable(Type.String()),
    experience: Type.String(),
    ...preferencesShown
  }, {
    examples: [{
      name: 'Ana Putri',
      gender: 'FEMALE',
      birthDate: '1998-04-12',
      height: 165,
      heightUnit: 'cm',
      weight: 58.5,
      weightUnit: 'kg',
      photos: ['https://cdn.example.com/photos/1b4e28ba.webp', 'https://cdn.example.com/photos/6fa459ea.webp'],
      bio: 'Early runner, late reader',
      communityRulesAccepted: true,
      countryId: '102',
      regionId: '1826',
      cityId: '56263',
      locale: 'id',
      timezone: 'Asia/Makassar',
      avatarUrl: 'https://cdn.example.com/photos/1b4e28ba.webp',
      fitnessGoal: 'BUILD_MUSCLE',
      experience: 'INTERMEDIATE',
      ...examplePreferences,
      locationEnabled: false,
      pushNotifications: true
    }]
  })
)

const completed = Type.Optional(Type.Boolean({ description: 'true marks the step as completed' }))

export const profileStep = () =>
  Body({
    communityRulesAccepted: Type.Optional(Type.Boolean()),
    ...personFields,
    photos: Type.Optional(Type.Array(ClientUrl, { maxItems: readLimits().profilePhotos })),
    countryId: Type.Optional(PlaceId),
    regionId: Type.Optional(PlaceId),
    cityId: Type.Optional(PlaceId),
    subStep: Type.Optional(SubStep(8)),
    completed
  }, { examples: [{ countryId: '102', regionId: '1826', cityId: '56263', subStep: 8, completed: true }] })
export type ProfileStep = Type.Static<ReturnType<typeof profileStep>>

export const PreferencesStep = Body({ ...preferenceFields, subStep: Type.Optional(SubStep(4)), completed }, {
  examples: [{ ...examplePreferences, subStep: 4, completed: true }]
})
export type PreferencesStep = Type.Static<typeof PreferencesStep>
