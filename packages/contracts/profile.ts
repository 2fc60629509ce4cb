import Type from 'typebox'
import { defineEvent, defineQuestion } from './definitions.ts'
import { Id, Nullable, Timestamp } from './schemas.ts'

/** How a person appears to others, and in whose language and time zone he is spoken to. */
export const PersonChanged = defineEvent('profile.person.changed.v1', Type.Object({
  accountId: Id,
  name: Type.String(),
  username: Type.String(),
  image: Nullable(Type.String()),
  bio: Nullable(Type.String()),
  locale: Type.String(),
  timezone: Type.String()
}))

/** A person as his own account shows him; made on first touch, null when there is no such account. */
export const Person = defineQuestion('profile.person.v1', {
  request: Type.Object({ accountId: Id }),
  answer: Nullable(Type.Object({
    name: Type.String(),
    image: Nullable(Type.String()),
    profile: Type.Object({
      gender: Nullable(Type.Enum(['MALE', 'FEMALE', 'OTHER'])),
      birthDate: Nullable(Timestamp),
      height: Nullable(Type.Number()),
      heightUnit: Type.Enum(['cm', 'feet']),
      weight: Nullable(Type.Number()),
      weightUnit: Type.Enum(['kg', 'pound']),
      fitnessGoal: Nullable(Type.String()),
      onboardingCompleted: Type.Boolean(),
      onboardingStep: Type.Integer(),
      experience: Type.String(),
      timezone: Type.String(),
      username: Type.String(),
      avatarUrl: Nullable(Type.String())
    })
  }))
})
