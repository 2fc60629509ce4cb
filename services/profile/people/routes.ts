import Type from 'typebox'
import { Body, validateName, Data, data, Enum, Text, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { changePerson, ensurePerson } from './actions.ts'
import { birthDayOf, checkTimezone, languageTag } from './checks.ts'
import { bodyOf } from './describe.ts'
import { isUsernameFree, type Person } from './queries.ts'
import { Bio, BirthDate, GenderField, Height, HeightUnit, Locale, Name, OwnProfile, Timezone, Username, Weight, WeightUnit } from './schemas.ts'

export const profileRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  const answer = (person: Person) => data({
    profile: { name: person.name, username: person.username, bio: person.bio, image: media.urlOf(person.image), ...bodyOf(person), locale: person.locale }
  })

  app.get('/profile', {
    schema: { 'x-extension': true, summary: 'Read my profile', response: { 200: Data(Type.Object({ profile: OwnProfile })) } }
  }, async ({ account }) => answer(await ensurePerson(deps, account.id)))

  app.put('/profile', {
    schema: {
      'x-extension': true,
      summary: 'Change my profile; what is left out stays',
      description: 'A name or username that is reserved or misleading is refused with 400 VALIDATION_ERROR; what one has already is taken. 409 USERNAME_TAKEN.',
      body: Body({
        name: Type.Optional(Name),
        username: Type.Optional(Username),
        bio: Type.Optional(Bio),
        gender: Type.Optional(GenderField),
        birthDate: Type.Optional(BirthDate),
        height: Type.Optional(Height),
        heightUnit: Type.Optional(HeightUnit),
        weight: Type.Optional(Weight),
        weightUnit: Type.Optional(WeightUnit),
        fitnessGoal: Type.Optional(Text({ max: 50, pattern: '^[A-Z][A-Z_]*$', examples: ['BUILD_MUSCLE'] })),
        experience: Type.Optional(Enum(['BEGINNER', 'INTERMEDIATE', 'ADVANCED'])),
        timezone: Type.Optional(Timezone),
        locale: Type.Optional(Locale)
      }),
      response: { 200: Data(Type.Object({ profile: OwnProfile })) }
    }
  }, async ({ body, account }) => {
    const { birthDate, heightUnit, weightUnit, fitnessGoal, timezone, bio, locale, ...rest } = body
    if (timezone) checkTimezone(timezone)
    await ensurePerson(deps, account.id)
    return answer(await changePerson(deps, account.id, async (_, person) => {
      validateName('name', rest.name, person.name)
      validateName('username', rest.username, person.username)
      return {
        ...rest,
        ...(bio !== undefined && { bio: bio || null }),
        ...(birthDate && { birth_date: birthDayOf(birthDate, timezone ?? person.timezone) }),
        ...(heightUnit && { height_unit: heightUnit }),
        ...(weightUnit && { weight_unit: weightUnit }),
        ...(fitnessGoal && { fitness_goal: fitnessGoal }),
        ...(timezone && { timezone, timezone_chosen: true }),
        ...(locale && { locale: languageTag(locale) })
      }
    }))
  })

  app.get('/profile/username-available', {
    schema: {
      'x-extension': true,
      summary: 'Ask whether a username is free for me',
      querystring: Type.Object({ username: Username }),
      response: { 200: Data(Type.Object({ available: Type.Boolean() })) }
    }
  }, async ({ query, account }) => data({ available: await isUsernameFree(db, query.username, account.id) }))
}
