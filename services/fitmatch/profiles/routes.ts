import Type from 'typebox'
import { Data, data, readIdempotencyKey, Message, message, Nullable, IdempotencyHeaders, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { withPhotoUrls } from '../photos/urls.ts'
import { changeProfile, createProfile, deleteProfile } from './actions.ts'
import { findOwnProfile } from './queries.ts'
import { NewProfile, OwnProfile, ProfileChanges } from './schemas.ts'

export const profileRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/fitmatch/profile', {
    schema: {
      summary: 'Read my matching profile',
      description: '`exists` is false and `data` null without one.',
      response: { 200: Type.Object({ success: Type.Literal(true), exists: Type.Boolean(), data: Nullable(OwnProfile) }) }
    }
  }, async ({ account }) => {
    const profile = await findOwnProfile(deps.db, account.id)
    return { success: true as const, exists: profile !== undefined, data: profile ? withPhotoUrls(deps.media, profile) : null }
  })

  app.post('/fitmatch/profile', {
    schema: {
      summary: 'Begin my matching profile',
      description: 'What is left out is taken from the main profile, even all of it. 409 PROFILE_EXISTS for a second one, 403 AGE_RESTRICTED below the age of 18.',
      headers: IdempotencyHeaders,
      body: NewProfile,
      response: { 201: Data(OwnProfile) }
    }
  }, async (request, reply) => {
    const profile = await createProfile(deps, request.account.id, request.body, readIdempotencyKey(request))
    return reply.code(201).send(data(withPhotoUrls(deps.media, profile)))
  })

  app.put('/fitmatch/profile', {
    schema: {
      summary: 'Change my matching profile',
      description: 'What is left out stays. A position is kept to a hundredth of a degree, and may change 20 times a day: 429 LIMIT_EXCEEDED.',
      body: ProfileChanges,
      response: { 200: Data(OwnProfile) }
    }
  }, async ({ body, account }) => data(withPhotoUrls(deps.media, await changeProfile(deps, account.id, body))))

  app.delete('/fitmatch/profile', {
    schema: { summary: 'Delete my matching profile, with its matches and chats', response: { 200: Message } }
  }, async ({ account }) => {
    await deleteProfile(deps, account.id)
    return message('Your FitMatch profile is deleted')
  })
}
