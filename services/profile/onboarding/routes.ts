import { readBrand } from '@tandem/brand-kit'
import Type from 'typebox'
import { Body, Data, data, message, Message, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { ensurePerson } from '../people/actions.ts'
import { savePermissions, savePreferences, saveProfile } from './actions.ts'
import { describeProgress } from './describe.ts'
import { OnboardingProfile, PreferencesStep, profileStep } from './schemas.ts'

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
      body: profileStep(),
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
      body: PreferencesStep,
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
