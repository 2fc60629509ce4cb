import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Data,
  data,
  readIdempotencyKey,
  Message,
  message,
  Nullable,
  IdempotencyHeaders,
  type Routes,
  NotFound
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ProfileExists, AgeRestricted, ProfileMissing, TooManyPositionChanges } from '../errors.ts'
import { withPhotos } from '../photos/describe.ts'
import { updateProfile, createProfile, deleteProfile } from './actions.ts'
import { findOwnProfile } from './queries.ts'
import { NewProfile, OwnProfile, ProfileChanges } from './schemas.ts'

export const profileRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/fitmatch/profile', {
    schema: {
      operationId: 'getFitMatchProfile',
      summary: 'Get my matching profile',
      description: 'Without a profile, `exists` is false and `data` is null.',
      response: {
        200: Type.Object({ success: Type.Literal(true), exists: Type.Boolean(), data: Nullable(OwnProfile) })
      }
    }
  }, async ({ account }) => {
    const profile = await findOwnProfile(deps.db, account.id)
    return {
      success: true as const,
      exists: profile !== undefined,
      data: profile ? withPhotos(deps.media, profile) : null
    }
  })

  app.post('/fitmatch/profile', {
    schema: {
      operationId: 'createFitMatchProfile',
      summary: 'Create my matching profile',
      description: 'Omitted fields are taken from the main profile; an empty body is valid. An account has one ' +
        'profile, and its owner must be 18 years old.',
      headers: IdempotencyHeaders,
      body: NewProfile,
      errors: [NotFound, ProfileExists, AgeRestricted, TooManyPositionChanges, IdempotencyConflict],
      response: { 201: Data(OwnProfile) }
    }
  }, async (request, reply) => {
    const profile = await createProfile(deps, request.account.id, request.body, readIdempotencyKey(request))
    return reply.code(201).send(data(withPhotos(deps.media, profile)))
  })

  app.put('/fitmatch/profile', {
    schema: {
      operationId: 'updateFitMatchProfile',
      summary: 'Update my matching profile',
      description:
        'Omitted fields stay unchanged. A position is stored to a hundredth of a degree, and can change 20 ' +
        'times a day.',
      body: ProfileChanges,
      errors: [ProfileMissing, AgeRestricted, TooManyPositionChanges],
      response: { 200: Data(OwnProfile) }
    }
  }, async ({ body, account }) => data(withPhotos(deps.media, await updateProfile(deps, account.id, body))))

  app.delete('/fitmatch/profile', {
    schema: {
      operationId: 'deleteFitMatchProfile',
      summary: 'Delete my matching profile with its matches and chats',
      description: 'A suspension stays. The account, posts and logs are not affected.',
      errors: [ProfileMissing],
      response: { 200: Message }
    }
  }, async ({ account }) => {
    await deleteProfile(deps, account.id)
    return message('Your FitMatch profile has been deleted')
  })
}
