import { readBrand, readLimits } from '@tandem/brand-kit'
import Type from 'typebox'
import { Timezone } from '@tandem/account-kit'
import {
  Body,
  ClientUrl,
  Data,
  data,
  message,
  Message,
  Nullable,
  Timestamp,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { ensurePerson } from '../people/actions.ts'
import { preferenceFields, preferencesShown } from '../people/preferences.ts'
import { Bio, BirthDate, GenderField, Height, HeightUnit, Locale, Name, Weight, WeightUnit } from '../people/schemas.ts'
import { PlaceId } from '../places/schemas.ts'
import { savePermissions, savePreferences, saveProfile } from './actions.ts'
import { describeProgress } from './describe.ts'

const SubStep = (max: number) => Type.Integer({ minimum: 0, maximum: max })

const examplePreferences = {
  motivations: ['stay_healthy'],
  favoriteSports: ['running', 'yoga'],
  activityStyle: ['partner'],
  preferredAvailability: ['morning', 'weekend'],
  preferredWorkoutTime: ['early_morning'],
  workoutFrequency: 3
}

const OnboardingProfile = named(
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

export const onboardingRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/onboarding/status', {
    schema: {
      operationId: 'getOnboardingStatus',
      summary: 'Get the onboarding progress',
      description: 'Where the person left off, and what they have entered so far.',
      errors: [PersonNotFound],
      response: {
        200: Data(Type.Object({
          isCompleted: Type.Boolean({ examples: [false] }),
          currentStep: Type.Integer({
            description: 'The last completed step: 0 none, 1 profile, 2 preferences, 3 all',
            examples: [1]
          }),
          currentSubStep: Type.Integer({ description: 'The last sub-step that was sent', examples: [4] }),
          completedAt: Nullable(Timestamp, { examples: [null] }),
          skippedAt: Nullable(Timestamp, {
            description: 'Always null: onboarding cannot be skipped',
            examples: [null]
          }),
          profile: Nullable(OnboardingProfile)
        }))
      }
    }
  }, async ({ account }) => data(describeProgress(deps.media, await ensurePerson(deps, account.id))))

  app.post('/onboarding/save-profile', {
    schema: {
      operationId: 'saveOnboardingProfile',
      summary: 'Save the first step: profile',
      description: 'Omitted fields stay the same. The first photo becomes the avatar. ' +
        'Until a person chooses a time zone, it follows the place.',
      body: Body({
        communityRulesAccepted: Type.Optional(Type.Boolean()),
        name: Type.Optional(Name),
        gender: Type.Optional(GenderField),
        birthDate: Type.Optional(BirthDate),
        height: Type.Optional(Height),
        heightUnit: Type.Optional(HeightUnit),
        weight: Type.Optional(Weight),
        weightUnit: Type.Optional(WeightUnit),
        photos: Type.Optional(Type.Array(ClientUrl, { maxItems: readLimits().profilePhotos })),
        bio: Type.Optional(Bio),
        countryId: Type.Optional(PlaceId),
        regionId: Type.Optional(PlaceId),
        cityId: Type.Optional(PlaceId),
        locale: Type.Optional(Locale),
        timezone: Type.Optional(Timezone),
        subStep: Type.Optional(SubStep(8)),
        completed: Type.Optional(Type.Boolean({ description: 'true marks the step as completed' }))
      }, { examples: [{ countryId: '102', regionId: '1826', cityId: '56263', subStep: 8, completed: true }] }),
      errors: [PersonNotFound],
      response: { 200: Data(Type.Object({ message: Type.String({ examples: ['Your profile is saved'] }) })) }
    }
  }, async ({ body, account }) => {
    await saveProfile(deps, account.id, body)
    return data({ message: 'Your profile is saved' })
  })

  app.post('/onboarding/save-preferences', {
    schema: {
      operationId: 'savePreferences',
      summary: 'Save the second step: preferences',
      description: 'The lists contain ids of onboarding options. Omitted fields stay the same.',
      body: Body({
        ...preferenceFields,
        subStep: Type.Optional(SubStep(4)),
        completed: Type.Optional(Type.Boolean({ description: 'true marks the step as completed' }))
      }, {
        examples: [{
          ...examplePreferences,
          subStep: 4,
          completed: true
        }]
      }),
      errors: [PersonNotFound],
      response: { 200: Message }
    }
  }, async ({ body, account }) => {
    await savePreferences(deps, account.id, body)
    return message('Your preferences are saved')
  })

  app.post('/onboarding/save-permissions', {
    schema: {
      operationId: 'savePermissions',
      summary: 'Save the permissions and complete onboarding',
      description: 'The last step. From then on, the status is completed.',
      body: Body({
        locationEnabled: Type.Boolean(),
        pushNotifications: Type.Boolean(),
        latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
        longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 }))
      }, { examples: [{ locationEnabled: true, pushNotifications: true, latitude: -8.65, longitude: 115.22 }] }),
      errors: [PersonNotFound],
      response: {
        200: Type.Object({
          success: Type.Literal(true),
          message: Type.String({ examples: ['Welcome to the app'] }),
          data: Type.Object({
            onboardingCompleted: Type.Boolean(),
            locationEnabled: Type.Boolean(),
            pushNotifications: Type.Boolean()
          })
        })
      }
    }
  }, async ({ body, account }) => {
    await savePermissions(deps, account.id, body)
    const { locationEnabled, pushNotifications } = body
    return {
      ...message(`Welcome to ${readBrand().brand.name}`),
      data: { onboardingCompleted: true, locationEnabled, pushNotifications }
    }
  })
}
