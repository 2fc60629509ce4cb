import Type from 'typebox'
import { findUsernameError, validateName } from '@tandem/account-kit'
import { Body, Data, data, Enum, Text, NotModified, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound, UsernameTaken } from '../errors.ts'
import { changePerson, ensurePerson } from './actions.ts'
import { bodyOf } from './describe.ts'
import { personColumnsOf, personFields } from './fields.ts'
import { permissionColumns, preferenceColumns, preferenceFields, preferencesOf } from './preferences.ts'
import { isUsernameAvailable, type Person } from './queries.ts'
import { OwnProfile, username } from './schemas.ts'

export const profileRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  const toResponse = (person: Person) =>
    data({
      profile: {
        name: person.name,
        username: person.username,
        bio: person.bio,
        image: media.urlOf(person.image),
        picture: person.image === null ? null : media.describe(person.image, person.imageDetails),
        ...bodyOf(person),
        locale: person.locale,
        ...preferencesOf(person)
      }
    })

  app.get('/profile', {
    schema: {
      'x-extension': true,
      operationId: 'getProfile',
      summary: "Get the caller's profile",
      description: "Everything that the person can edit in the app's settings.",
      errors: [PersonNotFound],
      response: { 200: Data(Type.Object({ profile: OwnProfile })), 304: NotModified }
    }
  }, async ({ account }) => toResponse(await ensurePerson(deps, account.id)))

  app.put('/profile', {
    schema: {
      'x-extension': true,
      operationId: 'updateProfile',
      summary: "Update the caller's profile",
      description: 'Omitted fields stay the same. A reserved or misleading name or username is rejected, ' +
        'unless the caller already has it.',
      body: Body({
        ...personFields,
        username: Type.Optional(username()),
        fitnessGoal: Type.Optional(Text({
          max: 50,
          pattern: '^[A-Z][A-Z_]*$',
          expectedFormat: 'motivationWord',
          examples: ['BUILD_MUSCLE']
        })),
        experience: Type.Optional(Enum(['BEGINNER', 'INTERMEDIATE', 'ADVANCED'])),
        ...preferenceFields,
        locationEnabled: Type.Optional(Type.Boolean({ description: 'false: the position is deleted' })),
        pushNotifications: Type.Optional(Type.Boolean({ description: 'false: nothing is pushed' }))
      }),
      errors: [PersonNotFound, UsernameTaken],
      response: { 200: Data(Type.Object({ profile: OwnProfile })) }
    }
  }, async ({ body, account }) => {
    const { username, fitnessGoal, experience } = body
    await ensurePerson(deps, account.id)
    return toResponse(
      await changePerson(deps, account.id, async (trx, person) => {
        validateName('username', username, person.username, findUsernameError)
        return {
          ...personColumnsOf(person, body),
          ...(username !== undefined && { username }),
          ...(fitnessGoal && { fitness_goal: fitnessGoal }),
          ...(experience && { experience }),
          ...await preferenceColumns(trx, person, body),
          ...permissionColumns(body)
        }
      })
    )
  })

  app.get('/profile/username-available', {
    schema: {
      'x-extension': true,
      operationId: 'checkUsername',
      summary: 'Check whether a username is available',
      description: "For use while the person types. The caller's own username is available.",
      querystring: Type.Object({ username: username() }),
      response: { 200: Data(Type.Object({ available: Type.Boolean() })) }
    }
  }, async ({ query, account }) => data({ available: await isUsernameAvailable(db, query.username, account.id) }))
}
